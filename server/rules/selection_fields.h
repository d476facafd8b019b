#ifndef TOLLGATE_SERVER_RULES_SELECTION_FIELDS_H_
#define TOLLGATE_SERVER_RULES_SELECTION_FIELDS_H_

#include "server/rules/field_value.h"
#include "server/rules/rule_draft.h"

namespace tollgate {

// The readers of the fields that say which requests a rule is for, and which of
// them share a bucket.

// {endpoint: [/login, /api/*]}: a value, or a list of those.
void ReadMatch(const FieldValue& value, RuleDraft& draft);

// [user, api_key | ip, {entry: ip, prefix: {v4: 24}}, [a, {entry: ip}]]: in
// each part an entry, alternatives as text, an entry with a prefix, or
// alternatives as a list.
void ReadKey(const FieldValue& value, RuleDraft& draft);

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_RULES_SELECTION_FIELDS_H_
