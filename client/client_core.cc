#include "client/client_core.h"

#include <condition_variable>
#include <optional>
#include <utility>

#include "absl/memory/memory.h"
#include "client/check_request.h"

namespace tollgate::client {
namespace {

// Nobody waits for it, so it may take longer than a decision.
constexpr absl::Duration kGiveBackTimeout = absl::Seconds(1);

BreakerOptions BreakerOptionsOf(const ClientOptions& options) {
  return {.failures = options.breaker_failures,
          .min_probe_ns = absl::ToInt64Nanoseconds(options.min_probe_interval),
          .max_probe_ns = absl::ToInt64Nanoseconds(options.max_probe_interval)};
}

// Only these say that the service cannot be asked. Whatever else comes back
// took no longer than an answer; and a caller whose odd requests end in errors
// must not be able to switch the service off for everyone.
bool IsOutage(const absl::Status& status) {
  return absl::IsDeadlineExceeded(status) || absl::IsUnavailable(status);
}

}  // namespace

// A slot for one call that is out. Whoever waits and the transport hold it
// together; the last of them gives it back.
struct ClientCore::Call final : ReplyHandler {
  explicit Call(ClientCore& owner) : core(owner) {}

  void OnReply(const absl::Status& reply, Decision decided) override {
    if (callback) {
      Decision answer =
          core.Conclude(request, asked, reply, std::move(decided));
      const auto call_back = std::exchange(callback, nullptr);
      core.Free(*this);
      call_back(std::move(answer));
      return;
    }
    bool nobody_waits = false;
    {
      MutexLock lock(mutex);
      nobody_waits = state == State::kAbandoned;
      if (!nobody_waits) {
        state = State::kAnswered;
        status = reply;
        decision = std::move(decided);
      }
    }
    if (nobody_waits) {
      core.Free(*this);  // too late: it was counted as a timeout
    } else {
      changed.notify_one();
    }
  }

  // Blocks until there is a reply or `deadline_ns` is reached. Without one the
  // slot is no longer the caller's.
  bool WaitForReply(CallWait& wait, int64_t deadline_ns) {
    MutexLock lock(mutex);
    wait.Wait(
        changed, mutex,
        [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS {  // Wait holds `mutex`
          return state != State::kWaiting;
        },
        deadline_ns);
    if (state == State::kAnswered) return true;
    state = State::kAbandoned;
    return false;
  }

  // For a caller who waits.
  void Reset() {
    MutexLock lock(mutex);
    state = State::kWaiting;
  }
  // For one who is called back.
  void Reset(const Request& what, const Asked& as,
             std::function<void(Decision)> on_answer) {
    request = what;  // into the memory that it has
    asked = as;
    callback = std::move(on_answer);
  }

  enum class State { kWaiting, kAnswered, kAbandoned };

  ClientCore& core;
  // Set before the call is sent. Empty: somebody waits in WaitForReply.
  std::function<void(Decision)> callback;
  Asked asked;
  Request request;  // where there is a callback

  Mutex mutex;
  std::condition_variable_any changed;
  State state ABSL_GUARDED_BY(mutex) = State::kWaiting;
  // Written by OnReply, then read by who waits: kAnswered stands between.
  absl::Status status;
  Decision decision;
};

struct ClientCore::Probe final : ReplyHandler {
  explicit Probe(ClientCore& owner) : core(owner) {}
  void OnReply(const absl::Status& reply, Decision /*decided*/) override {
    core.RecordProbe(reply);
  }
  ClientCore& core;
};

struct ClientCore::GiveBack final : ReplyHandler {
  explicit GiveBack(ClientCore& owner) : core(owner) {}
  // Whether the service is there, decisions find out: this stays out of it.
  void OnReply(const absl::Status& reply, Decision /*decided*/) override {
    core.gives_back_out_.fetch_sub(1, std::memory_order_relaxed);
    if (!reply.ok()) core.counters_.Count(CallCounters::kGiveBackFailures);
  }
  ClientCore& core;
};

absl::StatusOr<std::unique_ptr<ClientCore>> ClientCore::Create(
    const ClientOptions& options, ClientParts parts) {
  absl::Status valid = ValidateOptions(options);
  if (!valid.ok()) return valid;
  auto backstop = Backstop::Create(options, *parts.clock);
  if (!backstop.ok()) return backstop.status();
  return absl::WrapUnique(
      new ClientCore(options, std::move(parts), *std::move(backstop)));
}

ClientCore::ClientCore(const ClientOptions& options, ClientParts parts,
                       std::unique_ptr<Backstop> backstop)
    : options_(options),
      clock_(std::move(parts.clock)),
      wait_(std::move(parts.wait)),
      backstop_(std::move(backstop)),
      rules_(parts.rules != nullptr ? std::move(parts.rules)
                                    : std::make_unique<OutageRules>(*clock_)),
      refusals_(options.refusal_cache_ttl, parts.hash_key),
      breaker_(BreakerOptionsOf(options)),
      random_(parts.seed),
      probe_(std::make_unique<Probe>(*this)),
      give_back_(std::make_unique<GiveBack>(*this)),
      transport_(std::move(parts.transport)) {}

ClientCore::~ClientCore() { Stop(); }

Decision ClientCore::ShouldAllow(const Request& request) {
  const Asked asked{KeyOf(request), request.cost, clock_->NowNs()};
  std::optional<Decision> refusal =
      refusals_.Find(asked.key, asked.cost, asked.at_ns);
  if (refusal.has_value()) return Counted(*std::move(refusal));
  absl::StatusOr<Call*> admitted = Admit(request, asked.at_ns);
  if (!admitted.ok()) return DecideLocally(request, admitted.status());
  Call& call = **admitted;
  call.Reset();
  transport_->Send(request, request.cost, options_.timeout, call);
  const int64_t timeout_ns = absl::ToInt64Nanoseconds(options_.timeout);
  if (!call.WaitForReply(*wait_, asked.at_ns + timeout_ns)) {
    return Conclude(request, asked,
                    absl::DeadlineExceededError("no answer in time"), {});
  }
  const absl::Status status = std::exchange(call.status, absl::OkStatus());
  Decision decision = std::exchange(call.decision, Decision());
  Free(call);
  return Conclude(request, asked, status, std::move(decision));
}

void ClientCore::ShouldAllowAsync(const Request& request,
                                  std::function<void(Decision)> callback) {
  const Asked asked{KeyOf(request), request.cost, clock_->NowNs()};
  std::optional<Decision> refusal =
      refusals_.Find(asked.key, asked.cost, asked.at_ns);
  if (refusal.has_value()) {
    callback(Counted(*std::move(refusal)));
    return;
  }
  absl::StatusOr<Call*> admitted = Admit(request, asked.at_ns);
  if (!admitted.ok()) {
    callback(DecideLocally(request, admitted.status()));
    return;
  }
  (*admitted)->Reset(request, asked, std::move(callback));
  transport_->Send(request, request.cost, options_.timeout, **admitted);
}

void ClientCore::Release(const std::string& ticket) {
  if (ticket.empty() || rules_->Release(ticket) || !AdmitGiveBack()) return;
  transport_->SendRelease(ticket, kGiveBackTimeout, *give_back_);
}

void ClientCore::Refund(const Request& request, uint32_t cost,
                        absl::Time decided_at, absl::string_view overflow) {
  if (cost == 0 || decided_at == absl::InfinitePast()) return;
  refusals_.Forget(KeyOf(request));
  if (!AdmitGiveBack()) return;
  transport_->SendRefund(request, cost, decided_at, overflow, kGiveBackTimeout,
                         *give_back_);
}

bool ClientCore::AdmitGiveBack() {
  bool open = false;
  {
    MutexLock lock(mutex_);
    open = breaker_.open();
  }
  if (!open) {
    if (gives_back_out_.fetch_add(1, std::memory_order_relaxed) <
        options_.max_in_flight) {
      counters_.Count(CallCounters::kGivesBack);
      return true;
    }
    gives_back_out_.fetch_sub(1, std::memory_order_relaxed);
  }
  counters_.Count(CallCounters::kGiveBackFailures);
  return false;
}

absl::StatusOr<ClientCore::Call*> ClientCore::Admit(const Request& request,
                                                    int64_t now_ns) {
  absl::Status valid = CheckRequest(request);
  if (!valid.ok()) {
    counters_.Count(CallCounters::kBadRequests);
    return valid;
  }
  Call* call = nullptr;
  Breaker::Permit permit = Breaker::Permit::kSend;
  {
    MutexLock lock(mutex_);
    permit = breaker_.Ask(now_ns);
    if (permit == Breaker::Permit::kSend) {
      if (!free_.empty()) {
        call = free_.back();
        free_.pop_back();
      } else if (calls_.size() < options_.max_in_flight) {
        calls_.push_back(std::make_unique<Call>(*this));
        call = calls_.back().get();
        free_.reserve(calls_.size());  // so that Free allocates nothing
      }
    }
  }
  if (call != nullptr) return call;
  if (permit == Breaker::Permit::kSend) {
    counters_.Count(CallCounters::kOverflows);
    static const auto& full = *new absl::Status(
        absl::ResourceExhaustedError("max_in_flight calls are out already"));
    return full;
  }
  if (permit == Breaker::Permit::kProbe) SendProbe(request);
  static const auto& open = *new absl::Status(
      absl::UnavailableError("the service did not answer, asking pauses"));
  return open;
}

void ClientCore::Free(Call& call) {
  MutexLock lock(mutex_);
  free_.push_back(&call);
}

// A peek of the caller's own request: it goes the whole way that decisions go,
// so it shows that they are answered, and it takes no token, since the request
// has been answered locally. A health check would need another service's
// protocol and could be answered by a process that cannot decide.
void ClientCore::SendProbe(const Request& request) {
  counters_.Count(CallCounters::kProbes);
  transport_->Send(request, /*cost=*/0, options_.timeout, *probe_);
}

void ClientCore::Record(const absl::Status& status) {
  counters_.CountError(status);
  const bool outage = IsOutage(status);
  const int64_t now_ns = outage ? clock_->NowNs() : 0;
  MutexLock lock(mutex_);
  if (outage) {
    breaker_.OnFailure(now_ns, random_.Next());
  } else {
    breaker_.OnSuccess();
  }
}

void ClientCore::RecordProbe(const absl::Status& status) {
  const int64_t now_ns = clock_->NowNs();
  counters_.CountError(status);
  MutexLock lock(mutex_);
  if (IsOutage(status)) {
    breaker_.OnProbeFailure(now_ns, random_.Next());
  } else {
    breaker_.OnProbeSuccess();
  }
}

Decision ClientCore::Conclude(const Request& request, const Asked& asked,
                              const absl::Status& status, Decision decision) {
  Record(status);
  if (!status.ok()) return DecideLocally(request, status);
  decision.source = Source::kService;
  if (!decision.allowed) {
    refusals_.Remember(asked.key, asked.cost, decision, asked.at_ns,
                       clock_->NowNs());
  } else if (request.cost > 0) {
    rules_->Mirror(request);
  }
  return Counted(std::move(decision));
}

Decision ClientCore::DecideLocally(const Request& request, absl::Status error) {
  // To charge a backstop for a request that the service would not even read
  // helps nobody.
  if (absl::IsInvalidArgument(error)) {
    return Counted(ByPolicy(std::move(error)));
  }
  Decision decision;
  if (rules_->Covers(request.domain)) {
    decision = rules_->Decide(request);
  } else if (options_.outage_policy == OutagePolicy::kBackstop) {
    decision = backstop_->Decide(request.cost);
  } else {
    return Counted(ByPolicy(std::move(error)));
  }
  decision.error = std::move(error);
  return Counted(std::move(decision));
}

Decision ClientCore::ByPolicy(absl::Status error) const {
  Decision decision;
  decision.source = Source::kOutagePolicy;
  if (options_.outage_policy == OutagePolicy::kRefuse) {
    decision.allowed = false;
    if (absl::IsInvalidArgument(error)) {
      decision.outcome = Outcome::kImpossible;
    } else {
      decision.outcome = Outcome::kRefused;
      decision.retry_after = options_.max_probe_interval;
    }
  }
  decision.error = std::move(error);
  return decision;
}

Decision ClientCore::Counted(Decision decision) {
  counters_.CountDecision(decision);
  return decision;
}

ClientStats ClientCore::stats() const {
  ClientStats stats;
  counters_.Tell(stats);
  stats.policy = rules_->stats();
  MutexLock lock(mutex_);
  stats.breaker_open = breaker_.open();
  stats.in_flight = static_cast<uint32_t>(calls_.size() - free_.size());
  return stats;
}

}  // namespace tollgate::client
