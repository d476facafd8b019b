#include "server/metrics/store_families.h"

#include <string>

namespace tollgate {

void AddStoreFamilies(const StoreTotals& store,
                      std::vector<prometheus::MetricFamily>& out) {
  prometheus::MetricFamily& errors = out.emplace_back();
  errors.name = "tollgate_store_errors_total";
  errors.help =
      "Runs on the store that brought no answer in time, or an error, so that "
      "outage policies decided or a refund was lost.";
  errors.type = prometheus::MetricType::Counter;
  for (const StoreTotals::Errors& error : store.errors) {
    prometheus::ClientMetric& metric = errors.metric.emplace_back();
    metric.label = {{"operation", std::string(error.operation)}};
    metric.counter.value = static_cast<double>(error.count);
  }
  prometheus::MetricFamily& durations = out.emplace_back();
  durations.name = "tollgate_store_duration_seconds";
  durations.help = "From the start of a run on the store to its end.";
  durations.type = prometheus::MetricType::Histogram;
  prometheus::ClientMetric& metric = durations.metric.emplace_back();
  uint64_t count = 0;
  for (const StoreTotals::Bucket& bucket : store.durations) {
    count += bucket.count;
    metric.histogram.bucket.push_back({count, bucket.up_to_seconds});
  }
  metric.histogram.sample_count = count;
  metric.histogram.sample_sum = store.total_seconds;
}

}  // namespace tollgate
