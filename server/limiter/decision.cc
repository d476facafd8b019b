#include "server/limiter/decision.h"

namespace tollgate {

absl::string_view OutcomeName(Outcome outcome) {
  switch (outcome) {
    case Outcome::kAllowed:
      return "allowed";
    case Outcome::kRefused:
      return "refused";
    case Outcome::kImpossible:
      return "impossible";
    case Outcome::kExpired:
      return "expired";
    case Outcome::kOverridden:
      return "overridden";
  }
  return "unknown";
}

EnvoyLimit ToEnvoyLimit(const RuleStatus& status) {
  if (status.written != nullptr) {
    const NodeLimit& limit = *status.written;
    return {limit.requests_per_unit, limit.unit, limit.unit_multiplier,
            limit.name};
  }
  const LimitUnit unit = UnitOf(status.limit.period_ns());
  if (status.rule->name == kOverrideRule) {
    return {status.refuses_all ? 0 : uint64_t{status.limit.tokens()}, unit, 1,
            ""};
  }
  return {status.limit.tokens(), unit, 1, status.rule->name};
}

}  // namespace tollgate
