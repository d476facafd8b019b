#ifndef TOLLGATE_SERVER_RPC_RULE_TEXT_H_
#define TOLLGATE_SERVER_RPC_RULE_TEXT_H_

#include "server/limiter/rule.h"
#include "tollgate/v1/admin.pb.h"

namespace tollgate {

// The rule as text for people, into `out`, which must be empty. Thread-safe.
void DescribeRule(const Rule& rule, v1::RuleInfo& out);

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_RPC_RULE_TEXT_H_
