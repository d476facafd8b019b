#include "server/limiter/node_explain.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/limiter/pattern.h"

namespace tollgate {
namespace {

using Walk = DescriptorIndex::Walk;
using Way = DescriptorIndex::Way;

bool Matches(const NodeStep& step, const Entry& entry) {
  return Pattern::Parse(step.key).Matches(entry.key) &&
         (step.value.empty() ||
          Pattern::Parse(step.value).Matches(entry.value));
}

std::string EntryText(const Entry& entry) {
  return absl::StrCat("\"", entry.key, "\"=\"", entry.value, "\"");
}

absl::string_view WayText(Way way) {
  switch (way) {
    case Way::kExact:
      return "the exact value";
    case Way::kWildcard:
      return "the first wildcard that matches";
    case Way::kKeyOnly:
      return "the key without a value";
    case Way::kNone:
      break;
  }
  return "nothing";
}

// Why the descriptor does not end at the node with this path.
std::string Against(const std::vector<NodeStep>& path, Descriptor descriptor,
                    const Walk& walk) {
  for (size_t i = 0; i < path.size() && i < descriptor.size(); ++i) {
    const NodeStep& step = path[i];
    const std::string entry =
        absl::StrCat("entry ", i, " is ", EntryText(descriptor[i]));
    if (!Matches(step, descriptor[i])) {
      return absl::StrCat(entry, ", not \"", step.ToString(), "\"");
    }
    const NodeStep& passed = walk[i]->step;
    if (passed.key != step.key || passed.value != step.value) {
      return absl::StrCat(entry, ": ", WayText(walk[i]->way), ", \"",
                          passed.ToString(), "\", comes before it");
    }
  }
  return absl::StrCat("the descriptor has ", descriptor.size(),
                      descriptor.size() == 1 ? " entry" : " entries",
                      ", the path has ", path.size());
}

// The values that name the bucket, such as `tenant=ana, path=/api/*`.
std::string KeyText(const Walk& walk, Descriptor descriptor) {
  std::vector<std::string> parts;
  for (size_t i = 0; i < walk.size(); ++i) {
    const NodeStep& step = walk[i]->step;
    parts.push_back(
        step.share ? absl::StrCat(step.key, "=", step.value)
                   : absl::StrCat(descriptor[i].key, "=", descriptor[i].value));
  }
  return absl::StrJoin(parts, ", ");
}

uint64_t CostOf(const Request& request, size_t descriptor) {
  const uint64_t cost =
      request.terms.empty()
          ? request.cost
          : request.terms[descriptor].hits.value_or(request.cost);
  return std::max<uint64_t>(cost, 1);
}

// Whether the walk ends at the rule's own node.
bool EndsAt(const DomainRules& domain, const Rule& rule, Descriptor descriptor,
            const Walk& walk) {
  return !walk.empty() && walk.size() == descriptor.size() &&
         walk.back()->rule != DescriptorIndex::kNone &&
         &domain.rules[walk.back()->rule].rule == &rule;
}

void AddRule(const DomainRules& domain, const Rule& rule,
             const Request& request, const std::vector<Walk>& walks,
             std::vector<RuleExplanation>& out) {
  RuleExplanation none;
  none.rule = &rule;
  size_t closest = 0;
  bool applies = false;
  for (size_t d = 0; d < walks.size(); ++d) {
    const Descriptor descriptor = request.descriptors[d];
    if (!EndsAt(domain, rule, descriptor, walks[d])) {
      // The walk that shares the most with the path came closest.
      size_t shared = 0;
      const auto& path = rule.node->path;
      while (shared < path.size() && shared < walks[d].size() &&
             walks[d][shared]->step.ToString() == path[shared].ToString()) {
        ++shared;
      }
      if (none.reason.empty() || shared > closest) {
        none.reason = Against(path, descriptor, walks[d]);
        closest = shared;
      }
      continue;
    }
    applies = true;
    RuleExplanation& one = out.emplace_back();
    one.rule = &rule;
    one.applies = true;
    one.descriptor = d;
    one.key = KeyText(walks[d], descriptor);
    one.limits = rule.limits;
    one.cost = CostOf(request, d);
    one.shadow = rule.mode == Mode::kShadow;
  }
  if (!applies) out.push_back(std::move(none));
}

bool HasReplaced(const Rule& by, const Rule& rule) {
  for (const NodeLimit& limit : by.node->limits) {
    for (const NodeLimit& other : rule.node->limits) {
      if (!other.name.empty() && !other.unlimited &&
          std::find(limit.replaces.begin(), limit.replaces.end(), other.name) !=
              limit.replaces.end()) {
        return true;
      }
    }
  }
  return false;
}

// A rule of one limit that another rule of the request replaces does not apply.
void Replace(std::vector<RuleExplanation>& explanations) {
  std::vector<const Rule*> applying;
  for (const RuleExplanation& one : explanations) {
    if (one.applies) applying.push_back(one.rule);
  }
  for (RuleExplanation& one : explanations) {
    if (!one.applies || one.rule->node->limits.size() != 1) continue;
    for (const Rule* by : applying) {
      if (!HasReplaced(*by, *one.rule)) continue;
      one.applies = false;
      one.reason = absl::StrCat("rule \"", by->name, "\" replaces it");
    }
  }
}

}  // namespace

std::vector<RuleExplanation> ExplainNodes(const DomainRules& domain,
                                          const Request& request) {
  std::vector<Walk> walks;
  for (const Descriptor& descriptor : request.descriptors) {
    walks.push_back(domain.tree->WalkOf(descriptor));
  }
  std::vector<RuleExplanation> explanations;
  for (const BoundRule& bound : domain.rules) {
    if (bound.rule.node->path.empty()) {
      RuleExplanation& none = explanations.emplace_back();
      none.rule = &bound.rule;
      none.reason = "the request brings no limit of its own";
      continue;
    }
    AddRule(domain, bound.rule, request, walks, explanations);
  }
  Replace(explanations);
  return explanations;
}

}  // namespace tollgate
