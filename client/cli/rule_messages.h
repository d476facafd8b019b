#ifndef TOLLGATE_CLIENT_CLI_RULE_MESSAGES_H_
#define TOLLGATE_CLIENT_CLI_RULE_MESSAGES_H_

#include <string>

#include "server/limiter/explain.h"
#include "server/limiter/rule.h"
#include "tollgate/v1/admin.pb.h"

namespace tollgate::cli {

// The core's rules as the messages that a server would send of them.
// Thread-safe.
[[nodiscard]] v1::RuleInfo ToMessage(const Rule& rule);
[[nodiscard]] v1::RuleExplanation ToMessage(const RuleExplanation& explanation);

// A limit of `rule` as its file has it: "10/second burst 20", "100/5m"; under
// concurrency, "2 at once, slot_ttl 30s".
[[nodiscard]] std::string LimitText(const Rule& rule, const Limit& limit);

}  // namespace tollgate::cli

#endif  // TOLLGATE_CLIENT_CLI_RULE_MESSAGES_H_
