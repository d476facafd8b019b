#include "server/metrics/store_families.h"

#include <string>

namespace tollgate {

namespace {

void AddErrors(const char* name, const char* help, const char* label,
               const std::vector<StoreTotals::Errors>& errors,
               std::vector<prometheus::MetricFamily>& out) {
  prometheus::MetricFamily& family = out.emplace_back();
  family.name = name;
  family.help = help;
  family.type = prometheus::MetricType::Counter;
  for (const StoreTotals::Errors& error : errors) {
    prometheus::ClientMetric& metric = family.metric.emplace_back();
    metric.label = {{label, std::string(error.of)}};
    metric.counter.value = static_cast<double>(error.count);
  }
}

}  // namespace

void AddStoreFamilies(const StoreTotals& store,
                      std::vector<prometheus::MetricFamily>& out) {
  AddErrors("tollgate_store_errors_total",
            "What the store was asked and did not do, so that outage policies "
            "decided or a refund was lost.",
            "operation", store.errors, out);
  AddErrors("tollgate_store_run_errors_total",
            "Runs on the store that brought no answer, by what it or the "
            "connection to it said. Some are tried again.",
            "error", store.run_errors, out);
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
