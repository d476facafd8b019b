#include "server/limiter/sweeper.h"

#include <string>
#include <thread>
#include <utility>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "server/base/clock.h"
#include "tests/limiter/ask.h"
#include "tests/limiter/limits.h"

namespace tollgate {
namespace {

constexpr absl::Duration kPass = absl::Seconds(2);

TEST(PlanSweepStep, SpreadsAPassEvenlyOverItsSteps) {
  const auto pause = [](size_t buckets) {
    return PlanSweepStep(buckets, {}, kPass, 10).pause;
  };
  EXPECT_EQ(pause(0), kPass);
  EXPECT_EQ(pause(2048), kPass);  // one step is enough
  EXPECT_EQ(pause(2049), kPass / 2);
  EXPECT_EQ(pause(4096), kPass / 2);
  EXPECT_EQ(pause(4097), kPass / 3);
  EXPECT_EQ(pause(204'800), absl::Milliseconds(20));
  EXPECT_EQ(PlanSweepStep(204'800, {}, kPass, 10).buckets, 2048u);
}

TEST(PlanSweepStep, TakesLargerStepsOfALargeTable) {
  // 2000 pauses of a millisecond are a pass.
  EXPECT_EQ(PlanSweepStep(2048 * 2000, {}, kPass, 10).buckets, 2048u);
  EXPECT_EQ(PlanSweepStep(2048 * 2000 + 1, {}, kPass, 10).buckets, 2049u);
  const SweepStep step = PlanSweepStep(10'000'000, {}, kPass, 10);
  EXPECT_EQ(step.buckets, 5000u);
  EXPECT_EQ(step.pause, absl::Milliseconds(1));
}

TEST(PlanSweepStep, CountsTheStepItselfAsPartOfThePass) {
  EXPECT_EQ(PlanSweepStep(4096, absl::Milliseconds(50), kPass, 10).pause,
            absl::Milliseconds(950));
  EXPECT_EQ(PlanSweepStep(1, absl::Milliseconds(50), kPass, 10).pause,
            absl::Milliseconds(1950));
}

TEST(PlanSweepStep, PausesAsLongAsItsPartOfTheCpuWants) {
  const absl::Duration took = absl::Milliseconds(1);
  EXPECT_EQ(PlanSweepStep(10'000'000, took, kPass, 10).pause, 9 * took);
  EXPECT_EQ(PlanSweepStep(10'000'000, took, kPass, 25).pause, 3 * took);
  EXPECT_EQ(PlanSweepStep(10'000'000, took, kPass, 100).pause, took);
  // Never for longer than a pass, however long a step was delayed.
  EXPECT_EQ(PlanSweepStep(10'000'000, absl::Hours(1), kPass, 10).pause, kPass);
}

TEST(PlanSweepStep, LooksAtTheWholeDefaultTableInAFewSeconds) {
  const SweeperOptions options;
  for (const auto& [pass, percent] :
       {std::pair(options.pass, options.cpu_percent),
        std::pair(options.hurried_pass, options.hurried_cpu_percent)}) {
    size_t looked = 0;
    absl::Duration time;
    absl::Duration took;  // at 50 ns a bucket
    while (looked < 10'000'000) {
      const SweepStep step = PlanSweepStep(10'000'000, took, pass, percent);
      looked += step.buckets;
      took = absl::Nanoseconds(50 * step.buckets);
      time += took + step.pause;
    }
    EXPECT_LE(time, absl::Seconds(6)) << pass;
    EXPECT_LE(absl::Nanoseconds(50 * 10'000'000), time * (percent + 1) / 100);
  }
}

TEST(Sweeper, ForgetsFullBucketsOnAThreadOfItsOwn) {
  FakeClock clock(kStart);
  Limiter limiter(clock);
  SetRules(limiter, {MakeRule("per-user", {"user"}, {PerSecond(1)})});
  for (int i = 0; i < 1000; ++i) {
    const std::string user = std::to_string(i);
    ASSERT_TRUE(AskFor(limiter, {{"user", user}}).allowed());
  }
  const SteadyClock steady_clock;
  const Sweeper sweeper(limiter, steady_clock,
                        {.pass = absl::Milliseconds(10)});

  clock.Advance(kSecond);
  while (limiter.swept_count() < 1000) std::this_thread::yield();

  EXPECT_EQ(limiter.bucket_count(), 0u);
}

TEST(Sweeper, StopsAtOnceWhereAPassIsLong) {
  FakeClock clock(kStart);
  Limiter limiter(clock);

  const SteadyClock steady_clock;
  const Sweeper sweeper(limiter, steady_clock, {.pass = absl::Hours(1)});
}

}  // namespace
}  // namespace tollgate
