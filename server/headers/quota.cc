#include "server/headers/quota.h"

namespace tollgate {

Quota QuotaOf(const RuleStatus& status) {
  Quota quota;
  quota.name = status.rule->name;
  quota.tokens = status.limit.tokens();
  quota.period_ns = status.limit.period_ns();
  quota.burst = status.limit.burst();
  quota.remaining = status.remaining;
  quota.reset_after_ns = status.reset_after_ns;
  quota.retry_after_ns = status.retry_after_ns;
  quota.outcome = status.outcome;
  return quota;
}

std::vector<Quota> QuotasOf(const Decision& decision) {
  std::vector<Quota> quotas;
  quotas.reserve(decision.statuses.size());
  for (const RuleStatus& status : decision.statuses) {
    if (status.shadow || status.unlimited) continue;
    quotas.push_back(QuotaOf(status));
  }
  return quotas;
}

}  // namespace tollgate
