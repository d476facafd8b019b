#ifndef TOLLGATE_SERVER_RULES_POLICY_FIELDS_H_
#define TOLLGATE_SERVER_RULES_POLICY_FIELDS_H_

#include "server/rules/field_value.h"
#include "server/rules/rule_draft.h"

namespace tollgate {

// The readers of the fields that say how a rule is enforced.

// 10: the request's cost is multiplied by it.
void ReadCost(const FieldValue& value, RuleDraft& draft);
// enforce, shadow, off, or {enforce: 25%}.
void ReadMode(const FieldValue& value, RuleDraft& draft);
// {after: 100/minute, block: 10m}.
void ReadPenalty(const FieldValue& value, RuleDraft& draft);
// {entry: priority, shares: {critical: 0%, sheddable: 20%}, default: critical}.
void ReadReserve(const FieldValue& value, RuleDraft& draft);
// allow, refuse or backstop.
void ReadOverflowShare(const FieldValue& value, RuleDraft& draft);
void ReadOnOutage(const FieldValue& value, RuleDraft& draft);
// true or false.
void ReadUnlimited(const FieldValue& value, RuleDraft& draft);
// [per-user, per-client]. Whether there are such rules is for those to say who
// have all files.
void ReadSkips(const FieldValue& value, RuleDraft& draft);

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_RULES_POLICY_FIELDS_H_
