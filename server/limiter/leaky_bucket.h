#ifndef TOLLGATE_SERVER_LIMITER_LEAKY_BUCKET_H_
#define TOLLGATE_SERVER_LIMITER_LEAKY_BUCKET_H_

#include "server/limiter/algorithm.h"

namespace tollgate {

// Shapes instead of refusing: the arithmetic of the token bucket, but what the
// bucket does not hold yet is allowed with the delay after which it does, up to
// the limit's hold (`max_delay`); beyond that it is refused. Whoever waits out
// the delays sends at most B + R*w/P in every window of length w. The
// lifetime-long instance is FindAlgorithm("leaky_bucket").
[[nodiscard]] const Algorithm& LeakyBucket();

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_LIMITER_LEAKY_BUCKET_H_
