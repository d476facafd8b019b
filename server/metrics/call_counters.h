#ifndef TOLLGATE_SERVER_METRICS_CALL_COUNTERS_H_
#define TOLLGATE_SERVER_METRICS_CALL_COUNTERS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "prometheus/metric_family.h"
#include "server/metrics/metrics.h"
#include "server/metrics/sharded_counters.h"

namespace tollgate {

// What became of calls, whatever was decided: how many came, how long they
// took, which were turned away. Counting takes no lock. Thread-safe.
class CallCounters {
 public:
  CallCounters() { counts_.Grow(1); }

  void CountArrival() { counts_.Add(0, kArrivals); }
  void CountFinish(int64_t duration_ns);
  void CountExpired() { counts_.Add(0, kExpired); }
  void CountOverload() { counts_.Add(0, kOverload); }
  void CountLongQueue() { counts_.Add(0, kLongQueue); }
  void CountInvalid() { counts_.Add(0, kInvalid); }
  void CountWatchers(int change) { watchers_.fetch_add(change); }

  [[nodiscard]] ServiceCounts counts() const;
  void AddFamilies(std::vector<prometheus::MetricFamily>& out) const;

 private:
  // Upper bounds of the histogram of durations.
  static constexpr std::array<int64_t, 13> kDurationBoundsNs = {
      10'000,     25'000,     50'000,     100'000,   250'000,
      500'000,    1'000'000,  2'500'000,  5'000'000, 10'000'000,
      25'000'000, 50'000'000, 100'000'000};
  // Columns of the one row.
  enum Column : size_t {
    kArrivals,
    kExpired,
    kOverload,
    kLongQueue,
    kInvalid,
    kDurationSumNs,
    kDurationBuckets,  // one more than there are bounds
    kColumns = kDurationBuckets + kDurationBoundsNs.size() + 1,
  };

  [[nodiscard]] uint64_t Sum(size_t column) const {
    return counts_.Sum(0, column);
  }
  [[nodiscard]] uint64_t Finished() const;
  [[nodiscard]] prometheus::ClientMetric Durations() const;

  ShardedCounters counts_{kColumns, 1};
  std::atomic<int64_t> watchers_{0};  // changes seldom
};

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_METRICS_CALL_COUNTERS_H_
