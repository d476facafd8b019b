#include "client/grpc_transport.h"

#include <grpc/support/time.h>
#include <grpcpp/alarm.h>
#include <grpcpp/grpcpp.h>

#include <atomic>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "client/channel.h"
#include "client/policy_stream.h"
#include "client/wire.h"
#include "server/base/mutex.h"
#include "tollgate/v1/rate_limiter.grpc.pb.h"

namespace tollgate::client {
namespace {

constexpr char kEnds[] = "the client ends";

// A span from now, which gRPC turns into an instant of its monotonic clock: a
// step of the wall clock neither cuts nor stretches it.
gpr_timespec Within(absl::Duration timeout) {
  return gpr_time_from_nanos(absl::ToInt64Nanoseconds(timeout), GPR_TIMESPAN);
}

absl::Status ToStatus(const grpc::Status& status) {
  return {static_cast<absl::StatusCode>(status.error_code()),
          status.error_message()};
}

class GrpcTransport final : public BatchTransport {
 public:
  explicit GrpcTransport(const GrpcTransportOptions& options)
      : channel_(MakeChannel(options)),
        stub_(v1::RateLimiter::NewStub(channel_)) {
    channel_->GetState(/*try_to_connect=*/true);
    if (options.policy_handler != nullptr) {
      policy_.emplace(*stub_, queue_,
                      PolicyStreamOptions{options.policy_domains, options.seed},
                      *options.policy_handler);
      policy_->Start();
    }
    thread_ = std::thread([this] { Run(); });
  }

  ~GrpcTransport() override { Stop(); }

  void Send(const Request& request, uint32_t cost, absl::Duration timeout,
            ReplyHandler& handler) override {
    Call* call = Begin(timeout, handler);
    if (call == nullptr) return;
    FillRequest(request, cost, call->ask.request);
    call->ask.reader = stub_->PrepareAsyncShouldAllow(
        &*call->context, call->ask.request, &queue_);
    Start(*call, call->ask);
  }

  void SendRelease(const std::string& ticket, absl::Duration timeout,
                   ReplyHandler& handler) override {
    Call* call = Begin(timeout, handler);
    if (call == nullptr) return;
    call->release.request.set_ticket(ticket);
    call->release.reader = stub_->PrepareAsyncRelease(
        &*call->context, call->release.request, &queue_);
    Start(*call, call->release);
  }

  void SendRefund(const Request& request, uint32_t cost, absl::Time decided_at,
                  absl::string_view overflow, absl::Duration timeout,
                  ReplyHandler& handler) override {
    Call* call = Begin(timeout, handler);
    if (call == nullptr) return;
    FillRefund(request, cost, decided_at, overflow, call->refund.request);
    call->refund.reader = stub_->PrepareAsyncRefund(
        &*call->context, call->refund.request, &queue_);
    Start(*call, call->refund);
  }

  void SendBatch(absl::Span<const Question> questions, absl::Duration timeout,
                 BatchHandler& handler) override {
    Call* call = Acquire(timeout);
    if (call == nullptr) {
      FailAll(absl::CancelledError(kEnds), questions.size(), handler);
      return;
    }
    call->batch_handler = &handler;
    FillBatch(questions, call->batch.request);
    call->batch.reader = stub_->PrepareAsyncShouldAllowBatch(
        &*call->context, call->batch.request, &queue_);
    Start(*call, call->batch);
  }

  void WakeIn(absl::Duration delay, WakeHandler& handler) override {
    MutexLock lock(mutex_);  // so that the queue is not shut down before
    if (stopping_) return;
    wake_handler_ = &handler;
    wake_.Set(&queue_, Within(delay), &wake_);
  }

  void Stop() override {
    if (!thread_.joinable()) return;
    {
      MutexLock lock(mutex_);
      stopping_ = true;
    }
    // Wakes the thread, which ends what is out and then itself.
    grpc::Alarm stop;
    stop.Set(&queue_, gpr_time_0(GPR_CLOCK_MONOTONIC), /*tag=*/nullptr);
    thread_.join();
  }

 private:
  template <typename Request, typename Response>
  struct Exchange {
    Request request;
    Response response;
    std::unique_ptr<grpc::ClientAsyncResponseReader<Response>> reader;
  };

  // Used again and again: the messages keep their memory.
  struct Call {
    // Of one the reader is set, while the call is out.
    Exchange<v1::ShouldAllowRequest, v1::ShouldAllowResponse> ask;
    Exchange<v1::ReleaseRequest, v1::ReleaseResponse> release;
    Exchange<v1::RefundRequest, v1::RefundResponse> refund;
    Exchange<v1::ShouldAllowBatchRequest, v1::ShouldAllowBatchResponse> batch;
    std::optional<grpc::ClientContext> context;  // empty: not out
    grpc::Status status;
    ReplyHandler* handler = nullptr;
    BatchHandler* batch_handler = nullptr;  // in place of `handler`
    // Orders what the sender wrote before what the queue's thread reads. The
    // queue does so too, but the race detector cannot see into its library.
    std::atomic<bool> handed_over{false};
  };

  // Null once the transport stops: then the handler knows.
  Call* Begin(absl::Duration timeout, ReplyHandler& handler) {
    Call* call = Acquire(timeout);
    if (call == nullptr) {
      handler.OnReply(absl::CancelledError(kEnds), {});
      return nullptr;
    }
    call->handler = &handler;
    return call;
  }

  template <typename Request, typename Response>
  static void Start(Call& call, Exchange<Request, Response>& exchange) {
    auto& reader = *exchange.reader;
    call.handed_over.store(true, std::memory_order_release);
    reader.StartCall();
    // From here on the call may be answered, and in use for another request.
    reader.Finish(&exchange.response, &call.status, &call);
  }

  // Null once the transport stops.
  Call* Acquire(absl::Duration timeout) {
    MutexLock lock(mutex_);
    if (stopping_) return nullptr;
    if (free_.empty()) {
      calls_.push_back(std::make_unique<Call>());
      free_.reserve(calls_.size());
      free_.push_back(calls_.back().get());
    }
    Call* call = free_.back();
    free_.pop_back();
    call->context.emplace();
    call->context->set_deadline(Within(timeout));
    return call;
  }

  void Release(Call& call) {
    MutexLock lock(mutex_);
    free_.push_back(&call);
  }

  void Run() {
    void* tag = nullptr;
    bool ok = false;
    while (queue_.Next(&tag, &ok)) {
      if (tag == nullptr) {
        EndCalls();
      } else if (tag == &wake_) {
        if (ok) Wake();
      } else if (policy_.has_value() && tag == &*policy_) {
        policy_->On(ok);
      } else {
        Complete(*static_cast<Call*>(tag));
      }
    }
  }

  void Complete(Call& call) {
    call.handed_over.load(std::memory_order_acquire);
    if (call.batch.reader != nullptr) {
      CompleteBatch(call);
    } else {
      CompleteOne(call);
    }
  }

  void Wake() {
    WakeHandler* handler = nullptr;
    {
      MutexLock lock(mutex_);
      handler = wake_handler_;
    }
    handler->OnWake();
  }

  void CompleteOne(Call& call) {
    absl::StatusOr<Decision> decision = Decision();
    if (!call.status.ok()) {
      decision = ToStatus(call.status);
    } else if (call.ask.reader != nullptr) {
      decision = ToDecision(call.ask.response);
    }
    ReplyHandler& handler = *call.handler;
    call.ask.reader.reset();
    call.release.reader.reset();
    call.refund.reader.reset();
    call.context.reset();
    Release(call);
    if (decision.ok()) {
      handler.OnReply(absl::OkStatus(), *std::move(decision));
    } else {
      handler.OnReply(decision.status(), {});
    }
  }

  void CompleteBatch(Call& call) {
    const auto count = static_cast<size_t>(call.batch.request.requests_size());
    BatchHandler& handler = *call.batch_handler;
    absl::Status status = ToStatus(call.status);
    if (status.ok()) status = TakeAnswers(call.batch.response, count, answers_);
    call.batch.reader.reset();
    call.context.reset();
    Release(call);
    if (status.ok()) {
      handler.OnBatch(absl::MakeSpan(answers_));
    } else {
      FailAll(status, count, handler);
    }
  }

  static void FailAll(const absl::Status& status, size_t count,
                      BatchHandler& handler) {
    std::vector<Answer> answers(count);
    for (Answer& answer : answers) answer.status = status;
    handler.OnBatch(absl::MakeSpan(answers));
  }

  // On the queue's thread, the only one that may still be sending, from a
  // handler: so nothing is started on a queue that is shut down.
  void EndCalls() {
    {
      MutexLock lock(mutex_);
      for (const std::unique_ptr<Call>& call : calls_) {
        if (call->context.has_value()) call->context->TryCancel();
      }
    }
    if (policy_.has_value()) policy_->Stop();
    wake_.Cancel();
    queue_.Shutdown();
  }

  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::RateLimiter::Stub> stub_;
  grpc::CompletionQueue queue_;
  std::vector<Answer> answers_;  // of the thread, which keeps its memory

  grpc::Alarm wake_;
  std::optional<PolicyStream> policy_;  // on the thread alone, once it runs

  Mutex mutex_;
  WakeHandler* wake_handler_ ABSL_GUARDED_BY(mutex_) = nullptr;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::unique_ptr<Call>> calls_ ABSL_GUARDED_BY(mutex_);
  std::vector<Call*> free_ ABSL_GUARDED_BY(mutex_);

  std::thread thread_;
};

}  // namespace

std::unique_ptr<BatchTransport> MakeGrpcTransport(
    const GrpcTransportOptions& options) {
  return std::make_unique<GrpcTransport>(options);
}

}  // namespace tollgate::client
