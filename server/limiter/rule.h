#ifndef TOLLGATE_SERVER_LIMITER_RULE_H_
#define TOLLGATE_SERVER_LIMITER_RULE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "server/limiter/algorithm.h"
#include "server/limiter/limit.h"

namespace tollgate {

// A rule applies to a descriptor that has this entry.
struct Condition {
  std::string key;
  std::string value;
};

// One part of a rule's key: the value of the first of these entries that the
// descriptor has. A descriptor that has none is not of this rule.
struct KeyPart {
  std::vector<std::string> alternatives;
};

enum class Mode {
  kEnforce,
  kShadow,  // counted and reported, never refuses
  kOff,     // as if it were not there
};

// A rule as a person wrote it. Plain data; RuleSet::Create checks it.
struct Rule {
  std::string domain;
  std::string name;  // unique in the domain; the metrics label
  std::vector<Condition> match;
  std::vector<KeyPart> key;   // empty: one bucket for all
  std::vector<Limit> limits;  // one or more; all must allow
  const Algorithm* algorithm = nullptr;
  uint64_t cost = 1;  // multiplied by the request's cost; 1 to 2^32-1
  Mode mode = Mode::kEnforce;
};

inline constexpr size_t kMaxNameBytes = 128;
inline constexpr size_t kMaxLimits = 16;  // on one rule

// INVALID_ARGUMENT that names the first bad field (`name: empty, ...`), or OK.
// Thread-safe.
[[nodiscard]] absl::Status ValidateRule(const Rule& rule);

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_LIMITER_RULE_H_
