#ifndef TOLLGATE_SERVER_RPC_CALL_H_
#define TOLLGATE_SERVER_RPC_CALL_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/arena.h"
#include "grpcpp/grpcpp.h"
#include "server/rpc/admission.h"
#include "server/rpc/call_context.h"
#include "server/rpc/event.h"

namespace tollgate {

// The calls of one method on one completion queue. As many as Method::kPosted
// wait for a peer, however many are being answered, so that arrivals never
// queue inside the library for want of one. `Method` says how (see methods.h).
// Lives on the queue's thread alone. Thread-compatible.
template <typename Method>
class CallPool {
 public:
  explicit CallPool(const CallContext& context)
      : context_(context),
        admission_(Method::kIsAdmin ? context.admin_admission
                                    : context.admission) {}
  CallPool(const CallPool&) = delete;
  CallPool& operator=(const CallPool&) = delete;

  void PostAll() {
    for (size_t i = 0; i < Method::kPosted; ++i) PostOne();
  }
  // After this nothing is posted again.
  void Stop() { stopped_ = true; }
  // Calls that have arrived and whose answer has not left.
  [[nodiscard]] size_t answering() const { return answering_; }
  // Ends the calls that arrived before `arrived_ns`, of the steady clock, and
  // whose answer waits for its peer: one whose flow control lets nothing pass
  // would else hold its place for as long as it likes.
  void DropUnread(int64_t arrived_ns) {
    for (Call* call = oldest_;
         call != nullptr && call->arrived_ns_ < arrived_ns;
         call = call->next_) {
      call->DropIfUnread();
    }
  }

 private:
  class Call;

  void PostOne() {
    if (stopped_) return;
    if (idle_.empty()) idle_.push_back(std::make_unique<Call>(*this));
    // The queue holds the call until it delivers the event.
    Call* const call = idle_.back().release();
    idle_.pop_back();
    call->Post();
  }
  // Keeps few, so that a burst does not hold its memory for ever.
  void TakeBack(std::unique_ptr<Call> call) {
    if (idle_.size() < Method::kPosted) idle_.push_back(std::move(call));
  }

  // The calls that are answered, in the order of their arrival.
  void Append(Call& call) {
    ++answering_;
    call.previous_ = newest_;
    call.next_ = nullptr;
    (newest_ == nullptr ? oldest_ : newest_->next_) = &call;
    newest_ = &call;
  }
  void Remove(Call& call) {
    --answering_;
    (call.previous_ == nullptr ? oldest_ : call.previous_->next_) = call.next_;
    (call.next_ == nullptr ? newest_ : call.next_->previous_) = call.previous_;
  }

  const CallContext context_;
  Admission& admission_;
  bool stopped_ = false;
  size_t answering_ = 0;
  Call* oldest_ = nullptr;  // of those that are answered
  Call* newest_ = nullptr;
  std::vector<std::unique_ptr<Call>> idle_;
};

// One call: posted, then answered, then back in its pool. Messages live on an
// arena that starts in the call itself, so an ordinary call allocates none of
// them, and whatever a large message needed is given back with the answer. All
// of it happens on the queue's thread, but for the answer, which may come from
// another.
template <typename Method>
class CallPool<Method>::Call final : public Event {
 public:
  explicit Call(CallPool& pool) : pool_(pool), arena_(ArenaOver(block_)) {}

  void Post() {
    answering_ = false;
    context_.emplace();
    responder_.emplace(&*context_);
    request_ = google::protobuf::Arena::CreateMessage<typename Method::Request>(
        &arena_);
    const CallContext& shared = pool_.context_;
    Method::Post(shared.services, *context_, *request_, *responder_,
                 shared.queue, this);
  }

  void On(bool ok) override {
    if (!answering_ && ok) {
      pool_.PostOne();
      CreditPeer(*context_, request_->ByteSizeLong(), pool_.context_.peers);
      Answer();
      return;
    }
    // Answered, or never to arrive because the server shuts down.
    if (answering_) {
      // Another thread that answered is a few instructions from here at most.
      while (!sent_.load(std::memory_order_acquire)) std::this_thread::yield();
      pool_.Remove(*this);
      pool_.admission_.Leave(arrived_ns_);
    }
    arena_.Reset();
    responder_.reset();
    context_.reset();
    pool_.TakeBack(std::unique_ptr<Call>(this));
  }

 private:
  using Block = std::array<char, Method::kArenaBytes>;

  static google::protobuf::ArenaOptions ArenaOver(Block& block) {
    google::protobuf::ArenaOptions options;
    options.initial_block = block.data();
    options.initial_block_size = block.size();
    return options;
  }

  void Answer() {
    answering_ = true;
    sent_.store(false, std::memory_order_relaxed);
    pool_.Append(*this);
    const CallContext& shared = pool_.context_;
    arrived_ns_ = pool_.admission_.Arrive();
    const bool too_long = shared.mark.OnArrival(arrived_ns_);
    const absl::StatusOr<int64_t> deadline_ns = pool_.admission_.Admit(
        arrived_ns_, SteadyDeadlineNs(context_->raw_deadline()),
        too_long && Method::kAsks ? Queue::kTooLong : Queue::kShort);
    if (!deadline_ns.ok()) return Send(deadline_ns.status());
    const absl::Status allowed = MayCall();
    if (!allowed.ok()) return Send(allowed);
    response_ =
        google::protobuf::Arena::CreateMessage<typename Method::Response>(
            &arena_);
    const auto check = [&](absl::string_view domain) {
      return shared.access == nullptr
                 ? absl::OkStatus()
                 : shared.access->CheckDomain(*context_, domain);
    };
    Method::Handle(shared.handlers, *request_, *deadline_ns, check, *response_,
                   [this](const absl::Status& status) { Send(status); });
  }

  // OK, or why the peer may not.
  [[nodiscard]] absl::Status MayCall() const {
    const Access* const access = pool_.context_.access;
    if (access == nullptr) return absl::OkStatus();
    absl::Status allowed = access->Check(*context_, Method::kIsAdmin);
    if constexpr (Method::kIsOfDomain) {
      if (allowed.ok()) {
        allowed = access->CheckDomain(*context_, request_->domain());
      }
    }
    return allowed;
  }

  // The event comes soon then. Harmless where it is about to come anyway.
  void DropIfUnread() {
    if (sent_.load(std::memory_order_acquire)) context_->TryCancel();
  }

  // On any thread. The event may come before the library has returned, so the
  // queue's thread waits until this one is through with the call.
  void Send(const absl::Status& status) {
    if (status.ok()) {
      responder_->Finish(*response_, grpc::Status::OK, this);
    } else {
      responder_->FinishWithError(ToGrpcStatus(status), this);
    }
    sent_.store(true, std::memory_order_release);
  }

  friend CallPool;

  CallPool& pool_;
  // While it is answered: those before and after it.
  Call* previous_ = nullptr;
  Call* next_ = nullptr;
  bool answering_ = false;
  std::atomic<bool> sent_{false};  // by whichever thread answers
  int64_t arrived_ns_ = 0;         // of the steady clock
  alignas(8) Block block_;         // raw memory for the arena
  google::protobuf::Arena arena_;
  typename Method::Request* request_ = nullptr;    // on the arena
  typename Method::Response* response_ = nullptr;  // there too
  std::optional<grpc::ServerContext> context_;
  std::optional<grpc::ServerAsyncResponseWriter<typename Method::Response>>
      responder_;
};

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_RPC_CALL_H_
