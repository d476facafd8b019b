#ifndef TOLLGATE_SERVER_RULES_LIMIT_FIELDS_H_
#define TOLLGATE_SERVER_RULES_LIMIT_FIELDS_H_

#include "server/rules/field_value.h"
#include "server/rules/rule_draft.h"

namespace tollgate {

// The readers of the fields that say how much may pass.

void ReadAlgorithm(const FieldValue& value, RuleDraft& draft);
void ReadBurst(const FieldValue& value, RuleDraft& draft);

// Reads `limit` or `tier`, and `max_delay` or `slot_ttl`, which all depend on
// the algorithm, and applies the burst. `map` is the rule, which is no
// allow-list and whose other fields have been read.
void ReadLimits(const FieldValue& map, RuleDraft& draft);

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_RULES_LIMIT_FIELDS_H_
