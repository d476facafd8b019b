#ifndef TOLLGATE_TESTS_LIMITER_ASK_H_
#define TOLLGATE_TESTS_LIMITER_ASK_H_

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "server/limiter/limiter.h"
#include "server/limiter/pattern.h"
#include "server/limiter/request.h"
#include "server/limiter/rule.h"
#include "server/limiter/rule_set.h"
#include "server/limiter/token_bucket.h"

namespace tollgate {

// A part of a key: the first of these entries.
inline KeyPart Part(const std::vector<std::string>& entries) {
  KeyPart part;
  for (const std::string& entry : entries) {
    part.alternatives.push_back({entry, std::nullopt});
  }
  return part;
}

// A condition that the entry has exactly that value.
inline Condition Is(std::string key, absl::string_view value) {
  return {std::move(key), {Pattern::Exact(value)}};
}

// A condition that the entry's value is like one of these, with wildcards.
inline Condition IsLike(std::string key,
                        const std::vector<std::string>& patterns) {
  Condition condition{std::move(key), {}};
  for (const std::string& pattern : patterns) {
    condition.any_of.push_back(Pattern::Parse(pattern));
  }
  return condition;
}

// A rule of domain `shop` that gives each combination of these entries a token
// bucket.
inline Rule MakeRule(std::string name, const std::vector<std::string>& key,
                     std::vector<Limit> limits) {
  Rule rule;
  rule.domain = "shop";
  rule.name = std::move(name);
  for (const std::string& entry : key) rule.key.push_back(Part({entry}));
  rule.limits = std::move(limits);
  rule.algorithm = &TokenBucket();
  return rule;
}

// A rule set that a test knows to be valid.
inline RuleSet MakeRules(std::vector<Rule> rules) {
  absl::StatusOr<RuleSet> set = RuleSet::Create(std::move(rules));
  if (!set.ok()) std::abort();
  return *std::move(set);
}

inline void SetRules(Limiter& limiter, std::vector<Rule> rules) {
  if (!limiter.SetRules(MakeRules(std::move(rules))).ok()) std::abort();
}

// Asks for a request of several descriptors in domain `shop`.
inline Decision AskAll(Limiter& limiter,
                       const std::vector<std::vector<Entry>>& descriptors,
                       uint64_t cost = 1, int64_t deadline_ns = INT64_MAX) {
  const std::vector<Descriptor> views(descriptors.begin(), descriptors.end());
  return limiter.Decide(Request{"shop", views, cost, deadline_ns});
}

// Asks for a request of one descriptor in domain `shop`.
inline Decision AskFor(Limiter& limiter, const std::vector<Entry>& entries,
                       uint64_t cost = 1, int64_t deadline_ns = INT64_MAX) {
  const Descriptor view(entries);
  return limiter.Decide(Request{"shop", {&view, 1}, cost, deadline_ns});
}

// Tokens left in the one bucket that these entries select.
inline uint64_t Remaining(Limiter& limiter, const std::vector<Entry>& entries) {
  return AskFor(limiter, entries, /*cost=*/0).statuses.at(0).remaining;
}

}  // namespace tollgate

#endif  // TOLLGATE_TESTS_LIMITER_ASK_H_
