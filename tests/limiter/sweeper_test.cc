#include "server/limiter/sweeper.h"

#include <string>
#include <thread>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "server/base/clock.h"
#include "tests/limiter/ask.h"
#include "tests/limiter/limits.h"

namespace tollgate {
namespace {

TEST(SweepPause, SpreadsTheStepsEvenlyOverAPass) {
  const SweeperOptions options = {.step = 1000, .pass = absl::Seconds(2)};

  EXPECT_EQ(SweepPause(1001, options), absl::Seconds(1));
  EXPECT_EQ(SweepPause(2000, options), absl::Seconds(1));
  EXPECT_EQ(SweepPause(2001, options), absl::Seconds(2) / 3);
  EXPECT_EQ(SweepPause(100'000, options), absl::Milliseconds(20));
}

TEST(SweepPause, IsAWholePassWhereOneStepIsEnough) {
  const SweeperOptions options = {.step = 1000, .pass = absl::Seconds(2)};

  EXPECT_EQ(SweepPause(0, options), absl::Seconds(2));
  EXPECT_EQ(SweepPause(1, options), absl::Seconds(2));
  EXPECT_EQ(SweepPause(1000, options), absl::Seconds(2));
}

TEST(SweepPause, IsNeverBelowAMillisecond) {
  const SweeperOptions options = {.step = 1, .pass = absl::Seconds(2)};

  EXPECT_EQ(SweepPause(2000, options), absl::Milliseconds(1));
  EXPECT_EQ(SweepPause(2001, options), absl::Milliseconds(1));
  EXPECT_EQ(SweepPause(100'000'000, options), absl::Milliseconds(1));
}

TEST(SweepPause, CoversTenMillionBucketsWithTheDefaultsInSeconds) {
  const SweeperOptions options;
  const size_t buckets = 10'000'000;
  const auto steps = static_cast<int64_t>(buckets / options.step + 1);

  EXPECT_LE(SweepPause(buckets, options) * steps, absl::Seconds(6));
}

TEST(Sweeper, ForgetsFullBucketsOnAThreadOfItsOwn) {
  FakeClock clock(kStart);
  Limiter limiter(clock);
  SetRules(limiter, {MakeRule("per-user", {"user"}, {PerSecond(1)})});
  for (int i = 0; i < 1000; ++i) {
    const std::string user = std::to_string(i);
    ASSERT_TRUE(AskFor(limiter, {{"user", user}}).allowed());
  }
  const Sweeper sweeper(limiter, {.step = 100, .pass = absl::Milliseconds(10)});

  clock.Advance(kSecond);
  while (limiter.bucket_count() > 0) std::this_thread::yield();

  EXPECT_EQ(limiter.swept_count(), 1000u);
}

TEST(Sweeper, StopsAtOnceWhereAPassIsLong) {
  FakeClock clock(kStart);
  Limiter limiter(clock);

  const Sweeper sweeper(limiter, {.step = 1, .pass = absl::Hours(1)});
}

}  // namespace
}  // namespace tollgate
