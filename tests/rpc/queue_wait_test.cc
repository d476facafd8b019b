#include "server/rpc/queue_wait.h"

#include <cstdint>

#include "gtest/gtest.h"

namespace tollgate {
namespace {

constexpr int64_t kMs = 1'000'000;

TEST(QueueWait, ToleratesExactlyTheLongestWait) {
  QueueWait wait(absl::Milliseconds(20));
  for (int64_t now = 0; now < 1000 * kMs; now += 20 * kMs) {
    wait.CameUp(now, now + 20 * kMs);
    EXPECT_FALSE(wait.is_above());
    EXPECT_FALSE(wait.is_standing());
  }
}

TEST(QueueWait, StandsOnceEveryWaitOfATenthOfASecondWasTooLong) {
  QueueWait wait(absl::Milliseconds(20));
  wait.CameUp(0, 20 * kMs + 1);
  EXPECT_TRUE(wait.is_above());
  EXPECT_FALSE(wait.is_standing());
  wait.CameUp(20 * kMs + 1, 120 * kMs);  // a nanosecond before
  EXPECT_FALSE(wait.is_standing());
  wait.CameUp(20 * kMs + 1, 120 * kMs + 1);
  EXPECT_TRUE(wait.is_standing());
}

TEST(QueueWait, ForgetsAllAtTheFirstShortWait) {
  QueueWait wait(absl::Milliseconds(20));
  wait.CameUp(0, 500 * kMs);
  wait.CameUp(500 * kMs, 1000 * kMs);
  EXPECT_TRUE(wait.is_standing());
  wait.CameUp(1000 * kMs, 1020 * kMs);
  EXPECT_FALSE(wait.is_above());
  EXPECT_FALSE(wait.is_standing());
  wait.CameUp(1020 * kMs, 1120 * kMs);  // and counts from anew
  EXPECT_FALSE(wait.is_standing());
}

TEST(QueueWait, TurnsNobodyAwayForOnePauseHoweverLong) {
  QueueWait wait(absl::Milliseconds(20));
  wait.CameUp(0, 60'000 * kMs);
  EXPECT_FALSE(wait.is_standing());
}

TEST(QueueWait, OfZeroIsNotWatched) {
  EXPECT_FALSE(QueueWait(absl::ZeroDuration()).is_watched());
  EXPECT_TRUE(QueueWait(absl::Milliseconds(1)).is_watched());
}

}  // namespace
}  // namespace tollgate
