#include "server/metrics/reload_counters.h"

#include "server/metrics/client_metrics.h"

namespace tollgate {

using prometheus::MetricType;

void ReloadCounters::AddFamilies(
    std::vector<prometheus::MetricFamily>& out) const {
  out.push_back({"tollgate_rules_reloads_total",
                 "Times that changed rules were loaded while running.",
                 MetricType::Counter,
                 {CounterOf(successes_, {{"result", "success"}}),
                  CounterOf(failures_, {{"result", "failure"}})}});
  MutexLock lock(mutex_);
  if (hash_.empty()) return;
  constexpr double kSecond = 1e9;
  out.push_back({"tollgate_rules_last_reload_successful",
                 "1 if the rules were good when they were last loaded, 0 if "
                 "they were not and those before them stay in force.",
                 MetricType::Gauge,
                 {GaugeOf(last_ == ReloadResult::kSuccess)}});
  out.push_back({"tollgate_rules_last_reload_timestamp_seconds",
                 "When the rules were last loaded, good or not, since the Unix "
                 "epoch.",
                 MetricType::Gauge,
                 {GaugeOf(static_cast<double>(last_at_ns_) / kSecond)}});
  out.push_back({"tollgate_rules_info",
                 "The hash of the rules in force.",
                 MetricType::Gauge,
                 {GaugeOf(1, {{"hash", hash_}})}});
}

}  // namespace tollgate
