#ifndef TOLLGATE_SERVER_METRICS_RELOAD_COUNTERS_H_
#define TOLLGATE_SERVER_METRICS_RELOAD_COUNTERS_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "prometheus/metric_family.h"
#include "server/base/mutex.h"
#include "server/metrics/metrics.h"

namespace tollgate {

// Which rules are in force, and how loading them went, as a scrape shows it.
// Thread-safe.
class ReloadCounters {
 public:
  void CountSuccess() { ++successes_; }
  void CountFailure() { ++failures_; }
  void SetLast(ReloadResult result, int64_t at_ns) {
    MutexLock lock(mutex_);
    last_ = result;
    last_at_ns_ = at_ns;
  }
  void SetHash(absl::string_view hash) {
    MutexLock lock(mutex_);
    hash_ = std::string(hash);
  }

  // Adds the families. Those of the rules in force are there once there are
  // any.
  void AddFamilies(std::vector<prometheus::MetricFamily>& out) const;

 private:
  // Statistics, each for itself.
  std::atomic<uint64_t> successes_{0};
  std::atomic<uint64_t> failures_{0};
  mutable Mutex mutex_;
  ReloadResult last_ ABSL_GUARDED_BY(mutex_) = ReloadResult::kSuccess;
  int64_t last_at_ns_ ABSL_GUARDED_BY(mutex_) = 0;
  std::string hash_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_METRICS_RELOAD_COUNTERS_H_
