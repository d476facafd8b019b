#ifndef TOLLGATE_SERVER_LIMITER_SLIDING_LOG_H_
#define TOLLGATE_SERVER_LIMITER_SLIDING_LOG_H_

#include "server/limiter/algorithm.h"

namespace tollgate {

// Remembers when each admitted cost was taken and counts those of the last
// period: exact, at 16 bytes an admission, so at most 10,000 tokens. Burst is
// the tokens. The lifetime-long instance is FindAlgorithm("sliding_log").
[[nodiscard]] const Algorithm& SlidingLog();

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_LIMITER_SLIDING_LOG_H_
