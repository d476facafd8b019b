#include "server/metrics/connection_counters.h"

#include <numeric>

namespace tollgate {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricType;

// In the order of the enumerators.
constexpr std::array<const char*, 4> kRefusals = {"total", "address",
                                                  "descriptors", "flood"};
constexpr std::array<const char*, 2> kKills = {"flood", "slow_reader"};

template <size_t kCount>
std::vector<ClientMetric> ByReason(
    const std::array<std::atomic<uint64_t>, kCount>& counts,
    const std::array<const char*, kCount>& reasons) {
  std::vector<ClientMetric> metrics(kCount);
  for (size_t i = 0; i < kCount; ++i) {
    metrics[i].label = {{"reason", reasons[i]}};
    metrics[i].counter.value = static_cast<double>(counts[i].load());
  }
  return metrics;
}

template <size_t kCount>
uint64_t Sum(const std::array<std::atomic<uint64_t>, kCount>& counts) {
  return std::accumulate(counts.begin(), counts.end(), uint64_t{0});
}

}  // namespace

ConnectionCounts ConnectionCounters::counts() const {
  return {.open = open_, .refused = Sum(refused_), .killed = Sum(killed_)};
}

void ConnectionCounters::AddFamilies(
    std::vector<prometheus::MetricFamily>& out) const {
  ClientMetric open;
  open.gauge.value = static_cast<double>(open_.load());
  out.push_back({"tollgate_connections",
                 "Connections to the gRPC port that are open.",
                 MetricType::Gauge,
                 {open}});
  out.push_back(
      {"tollgate_connections_refused_total",
       "Connections that were reset at once: too many of all peers or "
       "of one address, or no descriptors left.",
       MetricType::Counter, ByReason(refused_, kRefusals)});
  out.push_back({"tollgate_connections_killed_total",
                 "Connections that were cut: they sent much that no call "
                 "accounts for, or did not take their answers.",
                 MetricType::Counter, ByReason(killed_, kKills)});
}

}  // namespace tollgate
