#ifndef TOLLGATE_TESTS_LIMITER_NODES_H_
#define TOLLGATE_TESTS_LIMITER_NODES_H_

#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "server/limiter/limiter.h"
#include "server/limiter/token_bucket.h"
#include "tests/limiter/ask.h"
#include "tests/limiter/limits.h"

namespace tollgate {

inline NodeLimit Written(uint64_t requests_per_unit,
                         LimitUnit unit = LimitUnit::kMinute) {
  NodeLimit limit;
  limit.requests_per_unit = requests_per_unit;
  limit.unit = unit;
  return limit;
}

// A rule of domain `shop` at the node with that path, named as its config path.
inline Rule NodeAt(std::vector<NodeStep> path, std::vector<NodeLimit> limits,
                   const Algorithm& algorithm = TokenBucket()) {
  Rule rule;
  rule.domain = "shop";
  rule.name = absl::StrJoin(path, ".", [](std::string* out, const auto& step) {
    out->append(step.ToString());
  });
  rule.algorithm = &algorithm;
  for (const NodeLimit& limit : limits) {
    if (limit.unlimited || limit.requests_per_unit == 0) continue;
    rule.limits.push_back(
        MakeLimit(limit.requests_per_unit,
                  *PeriodOf(limit.unit) * limit.unit_multiplier));
  }
  rule.node = NodeRule{std::move(path), std::move(limits), false, ""};
  return rule;
}

// Asks for a request of several descriptors in domain `shop`, on these terms.
inline Decision AskOn(Limiter& limiter,
                      const std::vector<std::vector<Entry>>& descriptors,
                      const std::vector<DescriptorTerms>& terms,
                      uint64_t cost = 1) {
  const std::vector<Descriptor> views(descriptors.begin(), descriptors.end());
  Request request{"shop", views, cost};
  request.terms = terms;
  if (!ValidateRequest(request).ok()) std::abort();
  return limiter.Decide(request);
}

inline DescriptorTerms Hits(uint64_t hits) { return {hits, false, {}}; }
inline DescriptorTerms GiveBack(uint64_t hits) { return {hits, true, {}}; }
inline DescriptorTerms Override(uint64_t requests_per_unit, LimitUnit unit) {
  return {{}, false, LimitOverride{requests_per_unit, unit}};
}

}  // namespace tollgate

#endif  // TOLLGATE_TESTS_LIMITER_NODES_H_
