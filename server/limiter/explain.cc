#include "server/limiter/explain.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/limiter/charge.h"
#include "server/limiter/key_text.h"
#include "server/limiter/node_explain.h"

namespace tollgate {
namespace {

std::string Missing(absl::string_view key) {
  return absl::StrCat("entry \"", key, "\" is missing");
}

// What stands against `condition`, or nothing.
std::string Against(const Condition& condition, Descriptor descriptor) {
  const absl::string_view* value = FindEntry(descriptor, condition.key);
  if (value == nullptr) return Missing(condition.key);
  if (std::any_of(condition.any_of.begin(), condition.any_of.end(),
                  [&](const Pattern& p) { return p.Matches(*value); })) {
    return "";
  }
  return absl::StrCat(
      "entry \"", condition.key, "\" is \"", *value, "\", not ",
      absl::StrJoin(condition.any_of, " or ",
                    [](std::string* out, const Pattern& pattern) {
                      absl::StrAppend(out, "\"", pattern.ToString(), "\"");
                    }));
}

// The text of one key part, such as `user=ana`; what stands against it is
// appended to `against`.
std::string KeyText(const KeyPart& part, Descriptor descriptor,
                    std::string* against) {
  std::string text = tollgate::KeyText(part, descriptor);
  if (!text.empty()) return text;
  std::vector<std::string> problems;
  for (const KeySource& source : part.alternatives) {
    const absl::string_view* value = FindEntry(descriptor, source.entry);
    if (value == nullptr) {
      problems.push_back(Missing(source.entry));
    } else {
      problems.push_back(absl::StrCat("entry \"", source.entry, "\" is \"",
                                      *value, "\", not an IP address"));
    }
  }
  *against = absl::StrJoin(problems, " and ");
  return "";
}

// The name among `named` that the descriptor's entry has, or `fallback`.
template <typename Named>
std::string Chosen(Descriptor descriptor, const std::string& entry,
                   const Named& named, const std::string& fallback) {
  const absl::string_view* value = FindEntry(descriptor, entry);
  for (const auto& [name, unused] : named) {
    if (value != nullptr && *value == name) return name;
  }
  return fallback;
}

uint32_t SharePercent(const Reserve& reserve, Descriptor descriptor) {
  const std::string name =
      Chosen(descriptor, reserve.entry, reserve.shares, reserve.fallback);
  uint32_t largest = 0;
  for (const auto& [share, percent] : reserve.shares) {
    if (share == name) return percent;
    largest = std::max(largest, percent);
  }
  return largest;
}

// Fills in the limits of the tier; false if the rule has none for it.
bool ChooseLimits(const Rule& rule, Descriptor descriptor,
                  RuleExplanation& explanation) {
  if (!rule.tier.has_value()) {
    explanation.limits = rule.limits;
    return true;
  }
  const Tier& tier = *rule.tier;
  explanation.tier = Chosen(descriptor, tier.entry, tier.limits, tier.fallback);
  for (const auto& [name, limits] : tier.limits) {
    if (name == explanation.tier) explanation.limits = limits;
  }
  return !explanation.limits.empty();
}

RuleExplanation ExplainOne(const Rule& rule, Descriptor descriptor,
                           uint64_t cost) {
  RuleExplanation explanation;
  explanation.rule = &rule;
  std::vector<std::string> against;
  for (const Condition& condition : rule.match) {
    std::string problem = Against(condition, descriptor);
    if (!problem.empty()) against.push_back(std::move(problem));
  }
  std::vector<std::string> key;
  for (const KeyPart& part : rule.key) {
    std::string problem;
    key.push_back(KeyText(part, descriptor, &problem));
    if (!problem.empty()) against.push_back(std::move(problem));
  }
  if (against.empty() && !rule.unlimited &&
      !ChooseLimits(rule, descriptor, explanation)) {
    against.push_back(
        absl::StrCat("entry \"", rule.tier->entry,
                     "\" names no tier, and there is no default"));
  }
  explanation.applies = against.empty();
  explanation.reason = absl::StrJoin(against, "; ");
  if (!explanation.applies) return explanation;
  explanation.key = absl::StrJoin(key, ", ");
  explanation.shadow = rule.mode == Mode::kShadow;
  if (rule.unlimited) return explanation;
  explanation.cost = cost * rule.cost;
  if (rule.reserve.has_value()) {
    explanation.reserved_percent = SharePercent(*rule.reserve, descriptor);
  }
  return explanation;
}

// The rule under each descriptor that it applies to; under none, why not.
void AddRule(const Rule& rule, const Request& request,
             std::vector<RuleExplanation>& out) {
  std::vector<RuleExplanation> applying;
  std::optional<RuleExplanation> closest;
  for (size_t d = 0; d < request.descriptors.size(); ++d) {
    RuleExplanation one = ExplainOne(rule, request.descriptors[d],
                                     std::max<uint64_t>(request.cost, 1));
    one.descriptor = d;
    if (!one.applies) {
      // The shortest list of reasons is the closest miss.
      if (!closest.has_value() || one.reason.size() < closest->reason.size()) {
        closest = std::move(one);
      }
    } else if (std::none_of(applying.begin(), applying.end(),
                            [&](const RuleExplanation& other) {
                              return other.key == one.key;
                            })) {
      applying.push_back(std::move(one));
    }
  }
  if (applying.empty()) {
    out.push_back(*std::move(closest));
  } else {
    std::move(applying.begin(), applying.end(), std::back_inserter(out));
  }
}

// Takes out what the allow-lists that apply take out.
void Skip(std::vector<RuleExplanation>& explanations) {
  for (const RuleExplanation& list : explanations) {
    if (!list.applies || !list.rule->unlimited || list.shadow) continue;
    for (RuleExplanation& other : explanations) {
      const auto& skips = list.rule->skips;
      if (!other.applies || other.rule->unlimited ||
          (!skips.empty() && std::find(skips.begin(), skips.end(),
                                       other.rule->name) == skips.end())) {
        continue;
      }
      other.applies = false;
      other.reason =
          absl::StrCat("rule \"", list.rule->name, "\" takes it out");
    }
  }
}

// What only a decision's own code says: which keys a percentage makes shadows.
void MarkShadows(const DomainRules& domain, const Request& request,
                 std::vector<RuleExplanation>& explanations) {
  const Selection selection = Select(request, domain, /*ticket=*/0);
  for (RuleExplanation& explanation : explanations) {
    if (!explanation.applies || explanation.rule->enforce_percent == 100) {
      continue;
    }
    for (const Charge& charge : selection.charges) {
      if (&charge.rule->rule == explanation.rule) {
        explanation.shadow = charge.shadow;
      }
    }
  }
}

}  // namespace

std::vector<RuleExplanation> Explain(const RuleSet& rules,
                                     const Request& request) {
  std::vector<RuleExplanation> explanations;
  const DomainRules* domain = rules.FindDomain(request.domain);
  if (domain == nullptr) return explanations;
  if (domain->tree.has_value()) return ExplainNodes(*domain, request);
  for (const BoundRule& bound : domain->rules) {
    AddRule(bound.rule, request, explanations);
  }
  MarkShadows(*domain, request, explanations);
  Skip(explanations);
  return explanations;
}

}  // namespace tollgate
