#ifndef TOLLGATE_SERVER_LIMITER_FIXED_WINDOW_H_
#define TOLLGATE_SERVER_LIMITER_FIXED_WINDOW_H_

#include "server/limiter/algorithm.h"

namespace tollgate {

// Counts what passes in each window, [k*P, (k+1)*P) since the Unix epoch, UTC:
// a calendar quota. Lets up to twice the limit through about a window's edge,
// so it keeps promise 1 of the design for whole windows only. Burst is the
// tokens. The lifetime-long instance is FindAlgorithm("fixed_window").
[[nodiscard]] const Algorithm& FixedWindow();

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_LIMITER_FIXED_WINDOW_H_
