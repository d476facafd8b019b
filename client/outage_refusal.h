#ifndef TOLLGATE_CLIENT_OUTAGE_REFUSAL_H_
#define TOLLGATE_CLIENT_OUTAGE_REFUSAL_H_

#include "server/limiter/algorithm.h"

namespace tollgate::client {

// What a rule with `on_outage: refuse` keeps to in an outage: a bucket that
// never has a token, whatever its limit. Refusals say to try again in a second,
// by which time the client has asked for the service again. The instance lives
// as long as the process. Stateless; thread-safe.
[[nodiscard]] const Algorithm& OutageRefusal();

}  // namespace tollgate::client

#endif  // TOLLGATE_CLIENT_OUTAGE_REFUSAL_H_
