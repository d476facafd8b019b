#ifndef TOLLGATE_SERVER_METRICS_STATE_COUNTERS_H_
#define TOLLGATE_SERVER_METRICS_STATE_COUNTERS_H_

#include <atomic>
#include <cstdint>
#include <vector>

#include "prometheus/metric_family.h"
#include "server/metrics/metrics.h"

namespace tollgate {

// What became of the state file, as a scrape shows it. Thread-safe.
class StateCounters {
 public:
  void SetRestored(uint64_t buckets) { restored_ = buckets; }
  void CountSaved(int64_t at_ns) {
    saved_at_ns_ = at_ns;
    ++saves_;
  }
  void CountFailure() { ++failures_; }

  [[nodiscard]] StateCounts counts() const {
    return {restored_, saves_, failures_, saved_at_ns_};
  }

  // Adds the families. When it was last saved is there once it was.
  void AddFamilies(std::vector<prometheus::MetricFamily>& out) const;

 private:
  // Statistics, each for itself.
  std::atomic<uint64_t> restored_{0};
  std::atomic<uint64_t> saves_{0};
  std::atomic<uint64_t> failures_{0};
  std::atomic<int64_t> saved_at_ns_{0};
};

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_METRICS_STATE_COUNTERS_H_
