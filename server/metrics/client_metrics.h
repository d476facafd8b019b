#ifndef TOLLGATE_SERVER_METRICS_CLIENT_METRICS_H_
#define TOLLGATE_SERVER_METRICS_CLIENT_METRICS_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "prometheus/client_metric.h"

namespace tollgate {

// One value of a family of counters, or of gauges. Thread-safe.
inline prometheus::ClientMetric CounterOf(
    uint64_t value, std::vector<prometheus::ClientMetric::Label> labels = {}) {
  prometheus::ClientMetric metric;
  metric.label = std::move(labels);
  metric.counter.value = static_cast<double>(value);
  return metric;
}
inline prometheus::ClientMetric GaugeOf(
    double value, std::vector<prometheus::ClientMetric::Label> labels = {}) {
  prometheus::ClientMetric metric;
  metric.label = std::move(labels);
  metric.gauge.value = value;
  return metric;
}

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_METRICS_CLIENT_METRICS_H_
