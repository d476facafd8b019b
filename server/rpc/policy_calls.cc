#include "server/rpc/policy_calls.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "server/limiter/request.h"
#include "server/rpc/call_context.h"
#include "server/rpc/event.h"

namespace tollgate {
namespace {

absl::Status Check(const v1::WatchPolicyRequest& request) {
  if (request.domains_size() > kMaxPolicyDomains) {
    return absl::InvalidArgumentError(
        absl::StrCat("domains: got ", request.domains_size(), ", want at most ",
                     kMaxPolicyDomains));
  }
  for (int i = 0; i < request.domains_size(); ++i) {
    const size_t bytes = request.domains(i).size();
    if (bytes >= 1 && bytes <= kMaxDomainBytes) continue;
    return absl::InvalidArgumentError(absl::StrCat("domains[", i, "]: got ",
                                                   bytes, " bytes, want 1 to ",
                                                   kMaxDomainBytes));
  }
  return absl::OkStatus();
}

}  // namespace

// One stream. It has at most one operation under way, and beside that an event
// for its end, after which it deletes itself.
class PolicyCalls::WatchCall final : public Event {
 public:
  explicit WatchCall(PolicyCalls& calls)
      : calls_(calls), ended_(*this), writer_(&context_) {
    context_.AsyncNotifyWhenDone(&ended_);
    calls_.service_.RequestWatchPolicy(&context_, &bytes_, &writer_,
                                       &calls_.queue_, &calls_.queue_, this);
  }
  ~WatchCall() override {
    calls_.watching_.erase(this);
    if (joined_) calls_.feed_.Leave();
  }

  void On(bool ok) override {
    busy_ = false;
    if (started_) {
      peer_is_gone_ = peer_is_gone_ || !ok;
    } else if (!ok) {  // the server shuts down, and so it has no end either
      delete this;
      return;
    } else {
      started_ = true;
      CreditPeer(context_, bytes_.Length(), calls_.peers_);
      calls_.watching_.insert(this);
      calls_.Post();
      const absl::Status status = Start();
      if (!status.ok()) Finish(status);
    }
    Go();
  }

  // Sends what has not been sent.
  void Go() {
    if (busy_) return;
    if (ended_.seen) {
      delete this;
      return;
    }
    if (finished_ || peer_is_gone_ || calls_.stopped_) return;
    // So that the stream does not hold up the drain.
    if (calls_.health_.stopping()) {
      return Finish(absl::UnavailableError("the server is about to stop"));
    }
    const uint64_t news = calls_.feed_.news();
    if (told_ != news) {
      const absl::Status status = Take(calls_.feed_.rules());
      if (!status.ok()) return Finish(status);
      told_ = news;
      has_news_ = true;
    }
    if (has_news_ || next_ < parts_.size()) WriteOne();
  }

 private:
  struct Ended final : Event {
    explicit Ended(WatchCall& of) : call(of) {}
    void On(bool) override {
      seen = true;
      call.Go();
    }
    WatchCall& call;
    bool seen = false;
  };

  absl::Status Start() {
    if (calls_.access_ != nullptr) {
      absl::Status allowed = calls_.access_->Check(context_, /*admin=*/false);
      if (!allowed.ok()) return allowed;
    }
    v1::WatchPolicyRequest request;
    grpc::ByteBuffer bytes;
    bytes.Swap(&bytes_);
    if (!grpc::SerializationTraits<v1::WatchPolicyRequest>::Deserialize(
             &bytes, &request)
             .ok()) {
      return absl::InvalidArgumentError("the message is no request");
    }
    absl::Status status = Check(request);
    for (int i = 0; status.ok() && i < request.domains_size(); ++i) {
      status = MayAsk(request.domains(i));
    }
    if (!status.ok()) return status;
    domains_.assign(request.domains().begin(), request.domains().end());
    joined_ = calls_.feed_.Join();
    if (joined_) return absl::OkStatus();
    return absl::ResourceExhaustedError(
        "as many clients as the server takes watch already");
  }

  [[nodiscard]] absl::Status MayAsk(absl::string_view domain) const {
    return calls_.access_ == nullptr
               ? absl::OkStatus()
               : calls_.access_->CheckDomain(context_, domain);
  }

  // Begins to send `rules`, unless they are what the stream had last.
  absl::Status Take(const std::shared_ptr<const PolicyRules>& rules) {
    if (rules->version == version_) return absl::OkStatus();
    version_ = rules->version;
    hash_ = rules->hash;
    next_ = 0;
    parts_.clear();
    size_t bytes = 0;
    for (const PolicyRules::Domain& domain : rules->domains) {
      if (!domains_.empty() && std::find(domains_.begin(), domains_.end(),
                                         domain.name) == domains_.end()) {
        continue;
      }
      if (!MayAsk(domain.name).ok()) continue;
      bytes += domain.bytes;
      parts_.insert(parts_.end(), domain.parts.begin(), domain.parts.end());
    }
    if (bytes > kMaxPolicyBytes) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "domains: their rules are ", bytes, " bytes, want at most ",
          kMaxPolicyBytes, ": name the domains that this client asks about"));
    }
    if (parts_.empty()) parts_.emplace_back();  // which says that there is none
    return absl::OkStatus();
  }

  // A part, or without one what is new beside the rules. Messages of the wire
  // that follow each other are one, so the rules need not be written again.
  void WriteOne() {
    v1::Policy beside;
    beside.set_hash(hash_);
    beside.set_clients(static_cast<uint32_t>(calls_.feed_.watchers()));
    has_news_ = false;
    std::vector<grpc::Slice> slices;
    if (next_ < parts_.size()) {
      beside.set_part(static_cast<uint32_t>(next_));
      beside.set_parts(static_cast<uint32_t>(parts_.size()));
      slices.push_back(parts_[next_++]);
      // What is not needed any more need not be kept.
      if (next_ == parts_.size()) next_ = 0, parts_.clear();
    }
    slices.emplace_back(beside.SerializeAsString());
    busy_ = true;
    writer_.Write(grpc::ByteBuffer(slices.data(), slices.size()), this);
  }

  void Finish(const absl::Status& status) {
    busy_ = true;
    finished_ = true;
    writer_.Finish(ToGrpcStatus(status), this);
  }

  PolicyCalls& calls_;
  bool busy_ = true;  // with the operation whose tag is this call
  bool started_ = false;
  bool joined_ = false;
  bool finished_ = false;
  bool peer_is_gone_ = false;

  std::vector<std::string> domains_;  // empty: all
  uint64_t told_ = 0;                 // the feed's news that it took last
  bool has_news_ = false;             // which it has not sent
  uint64_t version_ = 0;              // of the rules that it took last
  std::string hash_;
  std::vector<grpc::Slice> parts_;  // of these rules, until all are sent
  size_t next_ = 0;

  Ended ended_;
  grpc::ByteBuffer bytes_;
  grpc::ServerContext context_;
  grpc::ServerAsyncWriter<grpc::ByteBuffer> writer_;
};

void PolicyCalls::Post() {
  // Deletes itself at its end.
  if (!stopped_) new WatchCall(*this);  // NOLINT(*-owning-memory)
}

void PolicyCalls::Announce() {
  // None is deleted meanwhile: one whose end has been seen is still here only
  // because an operation is under way.
  for (WatchCall* call : watching_) call->Go();
}

}  // namespace tollgate
