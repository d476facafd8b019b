#include "server/limiter/rule_set.h"

#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"

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

absl::Status BindRule(BoundRule& bound, Registry& registry, const HashKey& key,
                      int64_t now_ns) {
  const Rule& rule = bound.rule;
  bound.id = registry.Rule(rule.domain, rule.name);
  bound.hash_key = KeyOfRule(key, rule);
  bound.limit_ids.clear();
  for (uint32_t slot = 0; slot < rule.limits.size(); ++slot) {
    absl::StatusOr<uint32_t> id = registry.BindLimit(
        *bound.id, slot, *rule.algorithm, rule.limits[slot], now_ns);
    if (!id.ok()) return id.status();
    bound.limit_ids.push_back(*id);
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
    set.domains_[number]->rules.push_back(
        BoundRule{std::move(rule), nullptr, {}, {}});
    ++set.size_;
  }
  for (const auto& domain : set.domains_) {
    std::vector<const Rule*> of_domain;
    for (const BoundRule& bound : domain->rules) {
      of_domain.push_back(&bound.rule);
    }
    domain->index = MatchIndex(of_domain);
  }
  return set;
}

absl::Status RuleSet::Bind(Registry& registry, const HashKey& key,
                           int64_t now_ns) {
  for (const auto& domain : domains_) {
    domain->id = registry.Domain(domain->name);
    for (BoundRule& bound : domain->rules) {
      absl::Status status = BindRule(bound, registry, key, now_ns);
      if (!status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

}  // namespace tollgate
