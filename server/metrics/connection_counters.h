#ifndef TOLLGATE_SERVER_METRICS_CONNECTION_COUNTERS_H_
#define TOLLGATE_SERVER_METRICS_CONNECTION_COUNTERS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "prometheus/metric_family.h"
#include "server/metrics/metrics.h"

namespace tollgate {

// What became of connections to the gRPC port, as a scrape shows it.
// Thread-safe.
class ConnectionCounters {
 public:
  void Count(int change) { open_ += change; }
  void CountRefused(ConnectionRefusal reason) {
    ++refused_[static_cast<size_t>(reason)];
  }
  void CountKilled(ConnectionKill reason) {
    ++killed_[static_cast<size_t>(reason)];
  }

  [[nodiscard]] ConnectionCounts counts() const;
  void AddFamilies(std::vector<prometheus::MetricFamily>& out) const;

 private:
  // Statistics, each for itself.
  std::atomic<int64_t> open_{0};
  std::array<std::atomic<uint64_t>, 4> refused_{};
  std::array<std::atomic<uint64_t>, 2> killed_{};
};

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_METRICS_CONNECTION_COUNTERS_H_
