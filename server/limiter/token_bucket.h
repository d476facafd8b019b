#ifndef TOLLGATE_SERVER_LIMITER_TOKEN_BUCKET_H_
#define TOLLGATE_SERVER_LIMITER_TOKEN_BUCKET_H_

#include "server/limiter/algorithm.h"

namespace tollgate {

// The token bucket as a generic cell rate algorithm (ITU-T I.371, annex A, in
// its virtual scheduling form): the state is the instant at which the bucket is
// full again. Exact for 3 per second and for 1,000,000,007 per day alike, since
// that instant carries a remainder in 1/tokens of a nanosecond.
//
// With R tokens per period P and burst B, taking n at `now`:
//   start = max(full_at, now);  new = start + n*P/R
//   allowed if new - now <= B*P/R;  otherwise wait for the excess, rounded up.
//
// In every window of length w it admits at most B + R*w/P. A bucket's own time
// never goes back: it is the latest instant at which tokens were taken or given
// back. The lifetime-long instance is FindAlgorithm("token_bucket").
[[nodiscard]] const Algorithm& TokenBucket();

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_LIMITER_TOKEN_BUCKET_H_
