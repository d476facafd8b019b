#include "client/core_decision.h"

#include <utility>

namespace tollgate::client {
namespace {

Outcome ToOutcome(tollgate::Outcome outcome) {
  switch (outcome) {
    case tollgate::Outcome::kAllowed:
      return Outcome::kAllowed;
    case tollgate::Outcome::kImpossible:
      return Outcome::kImpossible;
    case tollgate::Outcome::kRefused:
    case tollgate::Outcome::kExpired:     // no request here has a deadline
    case tollgate::Outcome::kOverridden:  // or a limit of its own
      break;
  }
  return Outcome::kRefused;
}

RuleStatus ToStatus(const tollgate::RuleStatus& from) {
  RuleStatus to;
  to.rule = from.rule->name;
  to.outcome = ToOutcome(from.outcome);
  to.shadow = from.shadow;
  to.unlimited = from.unlimited;
  to.overflow = from.overflow;
  // As the service tells them (ToProto in server/rpc): an allow-list has no
  // limit, what another limit replaces was not asked, and one of 0 is 0.
  if (from.unlimited || from.action == BucketAction::kNone) return to;
  to.reset_after = absl::Nanoseconds(from.reset_after_ns);
  to.period = absl::Nanoseconds(from.limit.period_ns());
  if (from.refuses_all) return to;
  to.tokens = from.limit.tokens();
  to.burst = from.limit.burst();
  to.remaining = from.remaining;
  to.retry_after = absl::Nanoseconds(from.retry_after_ns);
  to.delay = absl::Nanoseconds(from.delay_ns);
  return to;
}

}  // namespace

Decision ToClientDecision(const tollgate::Decision& decided) {
  Decision decision;
  decision.allowed = decided.allowed();
  decision.outcome = ToOutcome(decided.outcome);
  decision.retry_after = absl::Nanoseconds(decided.retry_after_ns);
  decision.delay = absl::Nanoseconds(decided.delay_ns);
  decision.statuses.reserve(decided.statuses.size());
  for (const tollgate::RuleStatus& status : decided.statuses) {
    decision.statuses.push_back(ToStatus(status));
  }
  return decision;
}

}  // namespace tollgate::client
