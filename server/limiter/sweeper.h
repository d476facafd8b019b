#ifndef TOLLGATE_SERVER_LIMITER_SWEEPER_H_
#define TOLLGATE_SERVER_LIMITER_SWEEPER_H_

#include <cstddef>

#include "absl/time/time.h"
#include "server/base/periodic_thread.h"
#include "server/limiter/limiter.h"

namespace tollgate {

struct SweeperOptions {
  // Buckets looked at in one step, 1 or more. A step holds a stripe's lock for
  // at most 128 of them at a time.
  size_t step = 2048;
  // The whole table is looked at once in about this time, so a bucket is gone
  // at most this long after it became full. 1 ms or more.
  absl::Duration pass = absl::Seconds(2);
};

// Sweeps a limiter from a thread of its own, in small steps spread evenly over
// a pass, until destroyed. Thread-safe.
class Sweeper {
 public:
  // `limiter` must outlive the sweeper.
  explicit Sweeper(Limiter& limiter, SweeperOptions options = {});

 private:
  PeriodicThread thread_;
};

// The pause after a step over `step` of `buckets`, so that a pass takes
// `pass`. Between 1 ms and `pass`.
[[nodiscard]] absl::Duration SweepPause(size_t buckets,
                                        const SweeperOptions& options);

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_LIMITER_SWEEPER_H_
