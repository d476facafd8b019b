#include "server/metrics/state_counters.h"

#include <utility>

namespace tollgate {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricType;

ClientMetric Saves(uint64_t count, const char* result) {
  ClientMetric metric;
  metric.label = {{"result", result}};
  metric.counter.value = static_cast<double>(count);
  return metric;
}

ClientMetric Gauge(double value) {
  ClientMetric metric;
  metric.gauge.value = value;
  return metric;
}

}  // namespace

void StateCounters::AddFamilies(
    std::vector<prometheus::MetricFamily>& out) const {
  out.push_back({"tollgate_state_saves_total",
                 "Times that the state file was written, or could not be.",
                 MetricType::Counter,
                 {Saves(saves_, "success"), Saves(failures_, "failure")}});
  out.push_back({"tollgate_state_restored_buckets",
                 "Buckets that the state file gave back at the start.",
                 MetricType::Gauge,
                 {Gauge(static_cast<double>(restored_))}});
  const int64_t saved_at_ns = saved_at_ns_;
  if (saved_at_ns == 0) return;
  out.push_back({"tollgate_state_saved_timestamp_seconds",
                 "The instant of the state that was last written, since the "
                 "Unix epoch.",
                 MetricType::Gauge,
                 {Gauge(static_cast<double>(saved_at_ns) / 1e9)}});
}

}  // namespace tollgate
