#ifndef TOLLGATE_SERVER_LIMITER_EXPLAIN_H_
#define TOLLGATE_SERVER_LIMITER_EXPLAIN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "server/limiter/request.h"
#include "server/limiter/rule.h"
#include "server/limiter/rule_set.h"

namespace tollgate {

// What one rule has to do with a request.
struct RuleExplanation {
  const Rule* rule = nullptr;  // lives as long as the rule set
  bool applies = false;
  // Why it does not apply, for people: `entry "user" is missing`. Of several
  // descriptors, of the one that came closest.
  std::string reason;
  // Where it applies:
  size_t descriptor = 0;      // which one selected it
  std::string key;            // such as `user=ana`; empty: one bucket for all
  std::string tier;           // empty where the rule has none
  std::vector<Limit> limits;  // of that tier
  uint64_t cost = 0;          // tokens that it would take
  uint32_t reserved_percent = 0;  // of the burst, that must be left for others
  bool shadow = false;            // counted, not enforced, for this key
};

// `rules` must be bound. Every rule of the request's domain, in the order of
// the rule file, also those that do not apply; a rule that two descriptors
// select differently, twice. Empty if no rule names the domain. Looks at each
// rule on its own, without the index that decisions use, so it takes time in
// the number of rules. Thread-safe.
[[nodiscard]] std::vector<RuleExplanation> Explain(const RuleSet& rules,
                                                   const Request& request);

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_LIMITER_EXPLAIN_H_
