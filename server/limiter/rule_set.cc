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

// Ties `limits` to the registry, each at a slot named after `set`.
absl::Status BindLimits(const RuleId& id, const Algorithm& algorithm,
                        absl::string_view set, const std::vector<Limit>& limits,
                        Registry& registry, int64_t now_ns,
                        std::vector<BoundLimit>& bound) {
  bound.clear();
  for (size_t i = 0; i < limits.size(); ++i) {
    absl::StatusOr<uint32_t> number = registry.BindLimit(
        id, absl::StrCat(i, ":", set), algorithm, limits[i], now_ns);
    if (!number.ok()) return number.status();
    bound.push_back({limits[i], *number, algorithm.Capacity(limits[i])});
  }
  return absl::OkStatus();
}

// Spreads the limits that are charged over those that the node has.
void AlignWithNode(const NodeRule& node, std::vector<BoundLimit>& bound) {
  std::vector<BoundLimit> aligned;
  size_t next = 0;
  for (const NodeLimit& limit : node.limits) {
    const bool charged = !limit.unlimited && limit.requests_per_unit > 0;
    aligned.push_back(charged ? bound[next++] : BoundLimit());
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
  absl::Status status;
  if (rule.node.has_value()) {
    status = BindLimits(*bound.id, *rule.algorithm, "", rule.limits, registry,
                        now_ns, bound.tiers.emplace_back());
    if (status.ok()) AlignWithNode(*rule.node, bound.tiers[0]);
  } else if (!rule.tier.has_value()) {
    status = BindLimits(*bound.id, *rule.algorithm, "", rule.limits, registry,
                        now_ns, bound.tiers.emplace_back());
  } else {
    for (const auto& [name, limits] : rule.tier->limits) {
      if (!status.ok()) return status;
      status = BindLimits(*bound.id, *rule.algorithm, "tier " + name, limits,
                          registry, now_ns, bound.tiers.emplace_back());
    }
  }
  if (status.ok() && rule.penalty.has_value()) {
    std::vector<BoundLimit> penalty;
    status = BindLimits(*bound.id, Penalty(), "penalty", {rule.penalty->after},
                        registry, now_ns, penalty);
    if (status.ok()) bound.penalty = penalty[0];
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
