#include "client/call_counters.h"

namespace tollgate::client {

void CallCounters::CountError(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return;
    case absl::StatusCode::kDeadlineExceeded:
      return Count(kTimeouts);
    case absl::StatusCode::kUnavailable:
      return Count(kUnavailable);
    case absl::StatusCode::kInvalidArgument:
      return Count(kBadRequests);
    default:
      return Count(kOtherErrors);
  }
}

void CallCounters::CountDecision(const Decision& decision) {
  BySource& counts = decision.allowed ? allowed_ : refused_;
  counts.at(static_cast<size_t>(decision.source))
      .fetch_add(1, std::memory_order_relaxed);
}

void CallCounters::Tell(ClientStats& stats) const {
  const auto count = [this](Counter counter) {
    return counters_.at(counter).load(std::memory_order_relaxed);
  };
  const auto of = [](const BySource& decisions, Source source) {
    return decisions.at(static_cast<size_t>(source))
        .load(std::memory_order_relaxed);
  };
  stats.service_refused = of(refused_, Source::kService);
  stats.backstop_refused = of(refused_, Source::kBackstop);
  stats.outage_policy_refused = of(refused_, Source::kOutagePolicy);
  stats.service = of(allowed_, Source::kService) + stats.service_refused;
  stats.refusal_cache = of(refused_, Source::kRefusalCache);
  stats.backstop = of(allowed_, Source::kBackstop) + stats.backstop_refused;
  stats.outage_policy =
      of(allowed_, Source::kOutagePolicy) + stats.outage_policy_refused;
  stats.timeouts = count(kTimeouts);
  stats.unavailable = count(kUnavailable);
  stats.other_errors = count(kOtherErrors);
  stats.bad_requests = count(kBadRequests);
  stats.overflows = count(kOverflows);
  stats.probes = count(kProbes);
  stats.gives_back = count(kGivesBack);
  stats.give_back_failures = count(kGiveBackFailures);
}

}  // namespace tollgate::client
