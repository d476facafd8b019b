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

}  // namespace tollgate::cli

#endif  // TOLLGATE_CLIENT_CLI_RULE_MESSAGES_H_
