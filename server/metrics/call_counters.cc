#include "server/metrics/call_counters.h"

#include <algorithm>
#include <limits>

#include "server/metrics/client_metrics.h"

namespace tollgate {

using prometheus::ClientMetric;
using prometheus::MetricType;

void CallCounters::CountFinish(int64_t duration_ns) {
  duration_ns = std::max<int64_t>(0, duration_ns);
  const auto* const bound = std::lower_bound(
      kDurationBoundsNs.begin(), kDurationBoundsNs.end(), duration_ns);
  counts_.Add(0, kDurationBuckets + (bound - kDurationBoundsNs.begin()));
  counts_.Add(0, kDurationSumNs, static_cast<uint64_t>(duration_ns));
}

ServiceCounts CallCounters::counts() const {
  // Finished before arrived: a call between the two reads counts as in flight.
  const uint64_t finished = Finished();
  const uint64_t arrived = std::max(finished, Sum(kArrivals));
  return {.in_flight = arrived - finished,
          .expired = Sum(kExpired),
          .overload = Sum(kOverload) + Sum(kLongQueue),
          .invalid = Sum(kInvalid),
          .watchers = watchers_.load()};
}

void CallCounters::AddFamilies(
    std::vector<prometheus::MetricFamily>& out) const {
  const ServiceCounts now = counts();
  out.push_back({"tollgate_in_flight_requests",
                 "Calls being answered now.",
                 MetricType::Gauge,
                 {GaugeOf(static_cast<double>(now.in_flight))}});
  out.push_back({"tollgate_policy_watchers",
                 "Clients that watch the outage policy, which share each limit "
                 "in an outage.",
                 MetricType::Gauge,
                 {GaugeOf(static_cast<double>(now.watchers))}});
  out.push_back({"tollgate_request_duration_seconds",
                 "From the arrival of a call to the end of its answer.",
                 MetricType::Histogram,
                 {Durations()}});
  out.push_back({"tollgate_shed_total",
                 "Requests turned away undecided: past their deadline, with "
                 "too many calls in flight, or after a queue that is too long.",
                 MetricType::Counter,
                 {CounterOf(now.expired, {{"reason", "expired"}}),
                  CounterOf(Sum(kOverload), {{"reason", "overload"}}),
                  CounterOf(Sum(kLongQueue), {{"reason", "queue"}})}});
  out.push_back({"tollgate_invalid_requests_total",
                 "Requests outside the bounds of the interface.",
                 MetricType::Counter,
                 {CounterOf(now.invalid)}});
}

uint64_t CallCounters::Finished() const {
  uint64_t count = 0;
  for (size_t i = 0; i <= kDurationBoundsNs.size(); ++i) {
    count += Sum(kDurationBuckets + i);
  }
  return count;
}

ClientMetric CallCounters::Durations() const {
  constexpr double kSecond = 1e9;
  ClientMetric metric;
  uint64_t count = 0;
  for (size_t i = 0; i <= kDurationBoundsNs.size(); ++i) {
    count += Sum(kDurationBuckets + i);
    const double bound =
        i == kDurationBoundsNs.size()
            ? std::numeric_limits<double>::infinity()
            : static_cast<double>(kDurationBoundsNs[i]) / kSecond;
    metric.histogram.bucket.push_back({count, bound});
  }
  metric.histogram.sample_count = count;
  metric.histogram.sample_sum =
      static_cast<double>(Sum(kDurationSumNs)) / kSecond;
  return metric;
}

}  // namespace tollgate
