#ifndef TOLLGATE_SERVER_LIMITER_SLIDING_WINDOW_H_
#define TOLLGATE_SERVER_LIMITER_SLIDING_WINDOW_H_

#include "server/limiter/algorithm.h"

namespace tollgate {

// Approximates a window that slides: the count of the fixed window that runs,
// plus the count of the one before, weighted by how much of it the sliding
// window still covers and rounded up. It takes the earlier count as spread
// evenly, so a burst at the end of the earlier window can let more than the
// limit through in some windows (the rule reference states how much); it never
// lets 2x through as fixed_window does. Burst is the tokens. The lifetime-long
// instance is FindAlgorithm("sliding_window").
[[nodiscard]] const Algorithm& SlidingWindow();

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_LIMITER_SLIDING_WINDOW_H_
