#ifndef TOLLGATE_SERVER_RPC_RULE_TEXT_H_
#define TOLLGATE_SERVER_RPC_RULE_TEXT_H_

#include <string>

#include "server/limiter/limit.h"
#include "server/limiter/rule.h"
#include "tollgate/v1/admin.pb.h"

namespace tollgate {

// Rules as text for people. Thread-safe.

// A limit of `rule` about as a rule file has it: "10/second",
// "100/5m burst 200", "10/second max_delay 2s", "2 at once, slot_ttl 30s".
[[nodiscard]] std::string LimitText(const Rule& rule, const Limit& limit);

// `out` must be empty.
void DescribeRule(const Rule& rule, v1::RuleInfo& out);

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_RPC_RULE_TEXT_H_
