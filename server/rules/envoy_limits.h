#ifndef TOLLGATE_SERVER_RULES_ENVOY_LIMITS_H_
#define TOLLGATE_SERVER_RULES_ENVOY_LIMITS_H_

#include "server/limiter/rule.h"
#include "server/rules/envoy_fields.h"

namespace tollgate {

// Reads the `rate_limit` of a descriptor, one or a list, into the node's limits
// and the rule's. Reports every mistake.
void ReadRateLimit(const EnvoyFields& descriptor, Rule& rule);

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_RULES_ENVOY_LIMITS_H_
