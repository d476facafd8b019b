#ifndef TOLLGATE_CLIENT_CORE_DECISION_H_
#define TOLLGATE_CLIENT_CORE_DECISION_H_

#include "client/decision.h"
#include "server/limiter/decision.h"

namespace tollgate::client {

// A decision of the limiter inside the client, as callers see it; its ticket,
// decided_at, source and error are left to whoever asked. Thread-safe.
[[nodiscard]] Decision ToClientDecision(const tollgate::Decision& decided);

}  // namespace tollgate::client

#endif  // TOLLGATE_CLIENT_CORE_DECISION_H_
