#include "server/limiter/sweeper.h"

#include <algorithm>
#include <cstdint>

namespace tollgate {
namespace {

// Buckets of the smallest step: below, the thread's waking up would cost more.
constexpr size_t kMinStep = 2048;
constexpr absl::Duration kMinPause = absl::Milliseconds(1);

// What the sweeper's thread remembers from step to step.
class Pace {
 public:
  Pace(Limiter& limiter, const Clock& steady_clock, SweeperOptions options)
      : limiter_(limiter), steady_clock_(steady_clock), options_(options) {}

  // Sweeps one step and returns the pause after it.
  absl::Duration Step() {
    const int64_t start_ns = steady_clock_.NowNs();
    limiter_.Sweep(step_);
    const absl::Duration took =
        absl::Nanoseconds(steady_clock_.NowNs() - start_ns);
    const size_t buckets = limiter_.bucket_count();
    looked_ += step_;
    if (looked_ >= buckets) {  // a pass is over
      grew_ = buckets > at_last_pass_ + at_last_pass_ / 8 + kMinStep;
      at_last_pass_ = buckets;
      looked_ = 0;
    }
    const size_t most = limiter_.max_buckets();
    const bool hurried = grew_ || buckets > most - most / 8;
    const SweepStep next =
        hurried
            ? PlanSweepStep(buckets, took, options_.hurried_pass,
                            options_.hurried_cpu_percent)
            : PlanSweepStep(buckets, took, options_.pass, options_.cpu_percent);
    step_ = next.buckets;
    return next.pause;
  }

 private:
  Limiter& limiter_;
  const Clock& steady_clock_;
  const SweeperOptions options_;
  size_t step_ = kMinStep;
  size_t looked_ = 0;        // in this pass
  size_t at_last_pass_ = 0;  // buckets, when it began
  bool grew_ = false;        // by an eighth in the last pass
};

}  // namespace

SweepStep PlanSweepStep(size_t buckets, absl::Duration took,
                        absl::Duration pass, int cpu_percent) {
  const auto most_steps = static_cast<size_t>(std::max<int64_t>(
      absl::ToInt64Nanoseconds(pass) / absl::ToInt64Nanoseconds(kMinPause), 1));
  const size_t steps =
      std::clamp((buckets + kMinStep - 1) / kMinStep, size_t{1}, most_steps);
  SweepStep step;
  step.buckets = std::max((buckets + steps - 1) / steps, kMinStep);
  const absl::Duration spread = pass / static_cast<int64_t>(steps) - took;
  const absl::Duration rest = took * (100 - cpu_percent) / cpu_percent;
  step.pause =
      std::clamp(std::max(spread, rest), kMinPause, std::max(pass, kMinPause));
  return step;
}

Sweeper::Sweeper(Limiter& limiter, const Clock& steady_clock,
                 SweeperOptions options)
    : thread_([pace = Pace(limiter, steady_clock, options)]() mutable {
        return pace.Step();
      }) {}

}  // namespace tollgate
