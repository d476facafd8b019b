#ifndef TOLLGATE_SERVER_LIMITER_SWEEPER_H_
#define TOLLGATE_SERVER_LIMITER_SWEEPER_H_

#include <cstddef>

#include "absl/time/time.h"
#include "server/base/clock.h"
#include "server/base/periodic_thread.h"
#include "server/limiter/limiter.h"

namespace tollgate {

struct SweeperOptions {
  // The whole table is looked at once in about this time, so a bucket is gone
  // at most this long after it became full. 1 ms or more.
  absl::Duration pass = absl::Seconds(2);
  // At most this part of one core's time, 1 to 100. A table that is too large
  // for it is looked at more slowly.
  int cpu_percent = 10;
  // The same while the table grows or is nearly full.
  absl::Duration hurried_pass = absl::Milliseconds(500);
  int hurried_cpu_percent = 25;
};

// One step of a sweep, and the pause after it.
struct SweepStep {
  size_t buckets = 0;
  absl::Duration pause;
};

// Spreads a pass over `buckets` evenly, in steps of 2048 or, in large tables,
// of as many as leave a millisecond for each. `took` is how long such a step
// takes: the pause is at least as much longer as the part of the CPU wants.
// 1 ms to the pass.
[[nodiscard]] SweepStep PlanSweepStep(size_t buckets, absl::Duration took,
                                      absl::Duration pass, int cpu_percent);

// Sweeps a limiter from a thread of its own, until destroyed. A step holds a
// stripe's lock for at most 128 buckets at a time. Thread-safe.
class Sweeper {
 public:
  // Both must outlive the sweeper; `steady_clock` tells how long steps take.
  Sweeper(Limiter& limiter, const Clock& steady_clock,
          SweeperOptions options = {});

 private:
  PeriodicThread thread_;
};

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_LIMITER_SWEEPER_H_
