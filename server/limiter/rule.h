#ifndef TOLLGATE_SERVER_LIMITER_RULE_H_
#define TOLLGATE_SERVER_LIMITER_RULE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "server/limiter/algorithm.h"
#include "server/limiter/limit.h"
#include "server/limiter/node_rule.h"
#include "server/limiter/pattern.h"

namespace tollgate {

// A rule applies to a descriptor whose entry `key` has one of these values.
struct Condition {
  std::string key;
  std::vector<Pattern> any_of;
};

// How an address in an entry is shortened before it forms a key, so that a
// client that has a whole network is one client: leading bits that are kept.
struct AddressPrefix {
  int v4 = 32;  // 0 to 32
  int v6 = 64;  // 0 to 128
};

// Where a part of a key comes from: an entry's value as it is or, with a
// prefix, as an address; one that is no address counts as not there.
struct KeySource {
  std::string entry;
  std::optional<AddressPrefix> prefix;
};

// One part of a rule's key: the first of these that the descriptor has. A
// descriptor that has none is not of this rule.
struct KeyPart {
  std::vector<KeySource> alternatives;
};

// Limits by the value of an entry. All tiers of a rule share one bucket for
// each key, so a change of tier is not a fresh burst.
struct Tier {
  std::string entry;
  std::vector<std::pair<std::string, std::vector<Limit>>> limits;
  // The tier where the entry is missing or has another value; empty means that
  // the rule does not apply then.
  std::string fallback;
};

// Refusals themselves are limited: a key that is refused more often than
// `after` is blocked for that limit's hold.
struct PenaltyRule {
  Limit after;
};

// Keeps a share of each bucket from the less important. `shares` says for each
// value of the entry how many percent must be left after a take.
struct Reserve {
  std::string entry;
  std::vector<std::pair<std::string, uint32_t>> shares;  // 0 to 100
  std::string fallback;  // the value where it is missing or another
};

enum class Mode {
  kEnforce,
  kShadow,  // counted and reported, never refuses
  kOff,     // as if it were not there
};

// What decides in place of the rule while its buckets cannot be reached.
enum class OutagePolicy { kBackstop, kAllow, kRefuse };

// A rule as a person wrote it. Plain data; RuleSet::Create checks it.
struct Rule {
  std::string domain;
  std::string name;  // unique in the domain; the metrics label
  std::vector<Condition> match;
  std::vector<KeyPart> key;   // empty: one bucket for all
  std::vector<Limit> limits;  // one or more; all must allow. None with a tier
  std::optional<Tier> tier;
  const Algorithm* algorithm = nullptr;
  uint64_t cost = 1;  // multiplied by the request's cost; 1 to 2^32-1
  Mode mode = Mode::kEnforce;
  uint32_t enforce_percent = 100;  // of the keys; the others see a shadow rule
  std::optional<PenaltyRule> penalty;
  std::optional<Reserve> reserve;
  // The limit of the bucket that keys share while there is no room for one of
  // their own: that much of the rule's. 1 to kMaxOverflowPercent
  uint32_t overflow_percent = 100;
  OutagePolicy on_outage = OutagePolicy::kBackstop;
  // An allow-list: no limit, and where it applies, the rules of these names do
  // not (all of the domain if there are none).
  bool unlimited = false;
  std::vector<std::string> skips;
  // A rule from an Envoy-format file: where it applies and how it is answered,
  // in place of match, key, tier, cost, penalty, reserve, unlimited and skips.
  // All rules of a domain have a node, or none has.
  std::optional<NodeRule> node;
};

inline constexpr size_t kMaxNameBytes = 128;
inline constexpr size_t kMaxLimits = 16;  // on one rule
inline constexpr size_t kMaxTiers = 64;   // or shares, in one rule
inline constexpr uint32_t kMaxOverflowPercent = 10'000;
inline constexpr size_t kMaxPatterns =
    1000;  // combinations of one rule's match

// INVALID_ARGUMENT that names the first bad field (`name: empty, ...`), or OK.
// Thread-safe.
[[nodiscard]] absl::Status ValidateRule(const Rule& rule);

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_LIMITER_RULE_H_
