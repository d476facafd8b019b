#ifndef TOLLGATE_SERVER_RPC_POLICY_RULE_H_
#define TOLLGATE_SERVER_RPC_POLICY_RULE_H_

#include "server/limiter/rule.h"
#include "tollgate/v1/rate_limiter.pb.h"

namespace tollgate {

// A rule as clients enforce it in an outage, into `out`, which must be empty.
// `rule` must be valid and not off. Thread-safe.
//
// For one without a node.
void ToPolicyRule(const Rule& rule, v1::PolicyRule& out);
// For one with a node.
void ToPolicyNode(const Rule& rule, v1::PolicyNode& out);

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_RPC_POLICY_RULE_H_
