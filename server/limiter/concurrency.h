#ifndef TOLLGATE_SERVER_LIMITER_CONCURRENCY_H_
#define TOLLGATE_SERVER_LIMITER_CONCURRENCY_H_

#include "server/limiter/algorithm.h"

namespace tollgate {

// Limits requests in progress: a take holds `cost` slots under its ticket until
// a Refund with that ticket, or until the limit's period (`slot_ttl`) is over.
// A ticket that holds nothing any more refunds nothing. The lifetime-long
// instance is FindAlgorithm("concurrency").
[[nodiscard]] const Algorithm& Concurrency();

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_LIMITER_CONCURRENCY_H_
