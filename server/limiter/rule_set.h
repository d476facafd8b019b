#ifndef TOLLGATE_SERVER_LIMITER_RULE_SET_H_
#define TOLLGATE_SERVER_LIMITER_RULE_SET_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/base/keyed_hash.h"
#include "server/limiter/descriptor_index.h"
#include "server/limiter/match_index.h"
#include "server/limiter/name_table.h"
#include "server/limiter/registry.h"
#include "server/limiter/rule.h"

namespace tollgate {

// How the names of slots begin whose limits are of overflow buckets.
inline constexpr absl::string_view kOverflowSlot = "overflow ";

// Where the overflow bucket lies of the first limit of a rule with that hash
// key; those of the other limits follow. `limit` tells limits apart that
// requests bring along, and is empty otherwise.
[[nodiscard]] inline Fingerprint OverflowBucket(const HashKey& hash_key,
                                                absl::string_view limit) {
  return KeyedHash(DeriveHashKey(hash_key, "overflow"), limit);
}

// A limit of a rule as its buckets refer to it.
struct BoundLimit {
  Limit limit;
  uint32_t id = 0;        // in the registry
  uint64_t capacity = 0;  // the most that one take can get
  // The limit of the bucket that keys share while there is no room for one of
  // their own. Null where a key does without then: a penalty.
  std::unique_ptr<const BoundLimit> overflow;
  // Of the overflow of a limit: its one bucket, which no key has.
  Fingerprint shared_bucket;
};

// A rule with what the limiter needs to find its buckets.
struct BoundRule {
  Rule rule;
  const RuleId* id = nullptr;
  // Derived from the domain, the name and the algorithm: buckets of different
  // rules never meet, and a rule that keeps all three keeps its buckets.
  HashKey hash_key;
  // The rule's limits for each of its tiers; one set where it has no tier. In a
  // rule with a node, one for each of the node's, number 0 where nothing is
  // charged.
  std::vector<std::vector<BoundLimit>> tiers;
  BoundLimit penalty;  // where it has one
  // Numbers of entry keys in the domain's index, where the rule has them.
  uint32_t tier_entry = NameTable::kNone;
  uint32_t reserve_entry = NameTable::kNone;
  // Of an unlimited rule: which rules of the domain it takes out, by position;
  // none means all.
  std::vector<uint32_t> skips;
};

// The rules of one domain, in the order they were given.
struct DomainRules {
  std::string name;
  const DomainId* id = nullptr;
  std::vector<BoundRule> rules;
  MatchIndex index;          // over `rules`, by position
  bool has_tickets = false;  // some rule takes by ticket
  // If the rules have nodes, the way to them, in place of `index`.
  std::optional<DescriptorIndex> tree;
  // Where limits that requests bring along are charged.
  BoundRule overrides;
};

// All rules in force at one moment. Immutable once bound.
class RuleSet {
 public:
  // INVALID_ARGUMENT for the first rule that ValidateRule refuses
  // (`rules[3].name: ...`), a name used twice in a domain, a name in `skips`
  // that no rule of the domain has, two nodes with one path, a domain that has
  // rules with nodes and others, or more than 100,000 rules. Rules in mode off
  // are left out.
  static absl::StatusOr<RuleSet> Create(std::vector<Rule> rules);

  // No rules: everything is allowed.
  RuleSet() = default;
  RuleSet(RuleSet&&) = default;
  RuleSet& operator=(RuleSet&&) = default;

  // Ties the rules to the identities that outlive them, as of `now_ns`. Once,
  // before the set is used.
  absl::Status Bind(Registry& registry, const HashKey& key, int64_t now_ns);

  // Null if no rule names the domain.
  [[nodiscard]] const DomainRules* FindDomain(absl::string_view name) const {
    const uint32_t number = names_.Find(name);
    return number == NameTable::kNone ? nullptr : domains_[number].get();
  }
  // In the order of their first rule.
  [[nodiscard]] const std::vector<std::unique_ptr<DomainRules>>& domains()
      const {
    return domains_;
  }
  [[nodiscard]] size_t size() const { return size_; }

 private:
  NameTable names_;  // of domains_
  std::vector<std::unique_ptr<DomainRules>> domains_;
  size_t size_ = 0;
};

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_LIMITER_RULE_SET_H_
