#include "server/limiter/rule_set.h"

#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "server/limiter/penalty.h"
#include "server/limiter/token_bucket.h"

namespace tollgate {
namespace {

constexpr size_t kMaxRules = 100'000;

void AppendPrefixed(absl::string_view text, std::string& out) {
  absl::StrAppend(&out, text.size(), ":", text);
}

HashKey KeyOfRule(const HashKey& key, const Rule& rule) {
  std::string identity;
  AppendPrefixed(rule.domain, identity);
  AppendPrefixed(rule.name, identity);
  AppendPrefixed(rule.algorithm->name(), identity);
  return DeriveHashKey(key, identity);
}

// Ties the limits of one rule to the registry.
class LimitBinder {
 public:
  LimitBinder(Registry& registry, BoundRule& rule, int64_t now_ns)
      : registry_(registry),
        rule_(rule),
        now_ns_(now_ns),
        shared_(OverflowBucket(rule.hash_key, "")) {}

  // `slot` is unique among the limits of the rule.
  absl::Status Bind(absl::string_view slot, const Algorithm& algorithm,
                    const Limit& limit, BoundLimit& bound) {
    const absl::StatusOr<uint32_t> number =
        registry_.BindLimit(*rule_.id, slot, algorithm, limit, now_ns_);
    if (!number.ok()) return number.status();
    bound.limit = limit;
    bound.id = *number;
    bound.capacity = algorithm.Capacity(limit);
    return absl::OkStatus();
  }

  // The limits of one tier, or of a rule that has none, each with what its
  // overflow bucket has. All tiers share those buckets.
  absl::Status BindTier(absl::string_view name,
                        const std::vector<Limit>& limits) {
    std::vector<BoundLimit>& tier = rule_.tiers.emplace_back();
    const Algorithm& algorithm = *rule_.rule.algorithm;
    for (size_t i = 0; i < limits.size(); ++i) {
      const std::string slot = absl::StrCat(i, ":", name);
      BoundLimit& own = tier.emplace_back();
      absl::Status status = Bind(slot, algorithm, limits[i], own);
      if (!status.ok()) return status;
      const absl::StatusOr<Limit> share =
          limits[i].Share(rule_.rule.overflow_percent);
      if (!share.ok()) return share.status();
      auto overflow = std::make_unique<BoundLimit>();
      overflow->shared_bucket = {shared_.hi, shared_.lo + i};
      status =
          Bind(absl::StrCat(kOverflowSlot, slot), algorithm, *share, *overflow);
      if (!status.ok()) return status;
      own.overflow = std::move(overflow);
    }
    return absl::OkStatus();
  }

 private:
  Registry& registry_;
  BoundRule& rule_;
  const int64_t now_ns_;
  const Fingerprint shared_;  // the bucket of the first limit
};

// Spreads the limits that are charged over those that the node has.
void AlignWithNode(const NodeRule& node, std::vector<BoundLimit>& bound) {
  std::vector<BoundLimit> aligned;
  size_t next = 0;
  for (const NodeLimit& limit : node.limits) {
    const bool charged = !limit.unlimited && limit.requests_per_unit > 0;
    aligned.push_back(charged ? std::move(bound[next++]) : BoundLimit());
  }
  bound = std::move(aligned);
}

absl::Status BindRule(BoundRule& bound, Registry& registry, const HashKey& key,
                      int64_t now_ns) {
  const Rule& rule = bound.rule;
  bound.id = registry.Rule(rule.domain, rule.name);
  if (rule.unlimited) return absl::OkStatus();
  bound.hash_key = KeyOfRule(key, rule);
  bound.tiers.clear();
  LimitBinder binder(registry, bound, now_ns);
  absl::Status status;
  if (!rule.tier.has_value()) {
    status = binder.BindTier("", rule.limits);
    if (status.ok() && rule.node.has_value()) {
      AlignWithNode(*rule.node, bound.tiers[0]);
    }
  } else {
    for (const auto& [name, limits] : rule.tier->limits) {
      if (!status.ok()) return status;
      status = binder.BindTier("tier " + name, limits);
    }
  }
  if (status.ok() && rule.penalty.has_value()) {
    status =
        binder.Bind("0:penalty", Penalty(), rule.penalty->after, bound.penalty);
  }
  return status;
}

// The rule of limits that requests bring along. They are counted as the
// domain's own are, if those have an algorithm for it.
void BindOverrides(DomainRules& domain, Registry& registry,
                   const HashKey& key) {
  Rule& rule = domain.overrides.rule;
  rule.domain = domain.name;
  rule.name = std::string(kOverrideRule);
  rule.algorithm =
      domain.tree.has_value() ? domain.rules[0].rule.algorithm : &TokenBucket();
  domain.overrides.id = registry.Rule(rule.domain, rule.name);
  domain.overrides.hash_key = KeyOfRule(DeriveHashKey(key, "overrides"), rule);
}

// Finishes a domain whose rules are all there. `names` has all rules of the
// file, also those in mode off.
absl::Status Complete(
    DomainRules& domain,
    const absl::flat_hash_set<std::pair<std::string, std::string>>& names) {
  std::vector<const Rule*> rules;
  absl::flat_hash_map<absl::string_view, uint32_t> positions;
  for (const BoundRule& bound : domain.rules) {
    positions[bound.rule.name] = static_cast<uint32_t>(rules.size());
    rules.push_back(&bound.rule);
  }
  if (rules[0]->node.has_value()) {
    absl::StatusOr<DescriptorIndex> tree = DescriptorIndex::Create(rules);
    if (!tree.ok()) return tree.status();
    domain.tree = *std::move(tree);
    return absl::OkStatus();
  }
  domain.index = MatchIndex(rules);
  for (BoundRule& bound : domain.rules) {
    const Rule& rule = bound.rule;
    if (rule.tier.has_value()) {
      bound.tier_entry = domain.index.NumberOf(rule.tier->entry);
    }
    if (rule.reserve.has_value()) {
      bound.reserve_entry = domain.index.NumberOf(rule.reserve->entry);
    }
    domain.has_tickets = domain.has_tickets ||
                         (!rule.unlimited && rule.algorithm->TakesByTicket());
    for (const std::string& name : rule.skips) {
      if (!names.contains({rule.domain, name})) {
        return absl::InvalidArgumentError(absl::StrCat(
            "rule \"", rule.name, "\": skips: got \"", name,
            "\", want the name of a rule in domain \"", rule.domain, "\""));
      }
      const auto it = positions.find(name);
      if (it != positions.end()) bound.skips.push_back(it->second);
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<RuleSet> RuleSet::Create(std::vector<Rule> rules) {
  if (rules.size() > kMaxRules) {
    return absl::InvalidArgumentError(absl::StrCat(
        "rules: got ", rules.size(), ", want at most ", kMaxRules));
  }
  RuleSet set;
  absl::flat_hash_set<std::pair<std::string, std::string>> names;
  for (size_t i = 0; i < rules.size(); ++i) {
    Rule& rule = rules[i];
    const absl::Status status = ValidateRule(rule);
    if (!status.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("rules[", i, "].", status.message()));
    }
    if (!names.emplace(rule.domain, rule.name).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("rules[", i, "].name: got \"", rule.name,
                       "\" twice in domain \"", rule.domain, "\""));
    }
    if (rule.mode == Mode::kOff) continue;
    const uint32_t number = set.names_.Add(rule.domain);
    if (number == set.domains_.size()) {
      set.domains_.push_back(std::make_unique<DomainRules>());
      set.domains_.back()->name = rule.domain;
    }
    std::vector<BoundRule>& of_domain = set.domains_[number]->rules;
    if (!of_domain.empty() &&
        of_domain[0].rule.node.has_value() != rule.node.has_value()) {
      return absl::InvalidArgumentError(
          absl::StrCat("rules[", i, "].domain: \"", rule.domain,
                       "\" has native rules and Envoy-format ones, want one "
                       "format in a domain"));
    }
    of_domain.emplace_back().rule = std::move(rule);
    ++set.size_;
  }
  for (const auto& domain : set.domains_) {
    const absl::Status status = Complete(*domain, names);
    if (!status.ok()) return status;
  }
  return set;
}

absl::Status RuleSet::Bind(Registry& registry, const HashKey& key,
                           int64_t now_ns) {
  for (const auto& domain : domains_) {
    domain->id = registry.Domain(domain->name);
    BindOverrides(*domain, registry, key);
    for (BoundRule& bound : domain->rules) {
      absl::Status status = BindRule(bound, registry, key, now_ns);
      if (!status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

}  // namespace tollgate
