#ifndef TOLLGATE_SERVER_LIMITER_NODE_EXPLAIN_H_
#define TOLLGATE_SERVER_LIMITER_NODE_EXPLAIN_H_

#include <vector>

#include "server/limiter/explain.h"
#include "server/limiter/request.h"
#include "server/limiter/rule_set.h"

namespace tollgate {

// Explain() for a domain with nodes: each rule once for every descriptor that
// ends at its node, or once with the reason why none does, which names the node
// that is passed in its place. `domain` must have a tree. Thread-safe.
[[nodiscard]] std::vector<RuleExplanation> ExplainNodes(
    const DomainRules& domain, const Request& request);

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_LIMITER_NODE_EXPLAIN_H_
