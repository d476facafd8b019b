#include "server/metrics/refused_families.h"

namespace tollgate {

void AddRefusedFamilies(const RefusedKeysReport& report,
                        std::vector<prometheus::MetricFamily>& out) {
  prometheus::MetricFamily& family = out.emplace_back();
  family.name = "tollgate_top_refused_ratio";
  family.help =
      "The part of a rule's refusals of late, shadow refusals too, that its "
      "most refused key has at least.";
  family.type = prometheus::MetricType::Gauge;
  for (const RefusedRule& rule : report.rules) {
    if (rule.total == 0 || rule.keys.empty()) continue;
    const HeavyKey& top = rule.keys.front();
    if (top.text.empty()) continue;
    prometheus::ClientMetric& metric = family.metric.emplace_back();
    metric.label = {{"domain", rule.rule->domain->name},
                    {"rule", rule.rule->name}};
    metric.gauge.value = static_cast<double>(top.count - top.error) /
                         static_cast<double>(rule.total);
  }
}

}  // namespace tollgate
