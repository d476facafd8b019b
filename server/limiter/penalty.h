#ifndef TOLLGATE_SERVER_LIMITER_PENALTY_H_
#define TOLLGATE_SERVER_LIMITER_PENALTY_H_

#include "server/limiter/algorithm.h"

namespace tollgate {

// Limits refusals themselves: Take counts one against the limit, and the one
// that is over it blocks the key for the limit's hold. Peek allows unless the
// key is blocked. When a block ends, the count starts afresh. Internal to rules
// with a `penalty`: FindAlgorithm does not know it.
[[nodiscard]] const Algorithm& Penalty();

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_LIMITER_PENALTY_H_
