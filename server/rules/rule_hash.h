#ifndef TOLLGATE_SERVER_RULES_RULE_HASH_H_
#define TOLLGATE_SERVER_RULES_RULE_HASH_H_

#include <string>

#include "absl/types/span.h"
#include "server/limiter/rule.h"

namespace tollgate {

// 32 hexadecimal digits that name what the rules mean, in any order (but for
// those with nodes, whose order in their domain means something): KeyedHash
// under a fixed, public key over the rules sorted by domain and name, each
// field length-prefixed and in its canonical form. Every algorithm must be
// set. Thread-safe.
[[nodiscard]] std::string HashRules(absl::Span<const Rule> rules);

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_RULES_RULE_HASH_H_
