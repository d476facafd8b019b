#include "server/limiter/fixed_window.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/limiter/limits.h"
#include "tests/limiter/one_bucket.h"
#include "tests/support/status_matchers.h"

namespace tollgate {
namespace {

using ::testing::HasSubstr;

// 2023-11-14 22:13:00 UTC, the start of a minute.
constexpr int64_t kMinuteStart = 1'699'999'980 * kSecond;
constexpr int64_t kMinute = 60 * kSecond;

TEST(FixedWindow, WindowsAlignToTheUnixEpoch) {
  OneBucket bucket(FixedWindow(), PerMinute(5));
  const Verdict verdict = bucket.Take(5, kMinuteStart + 20 * kSecond);
  EXPECT_EQ(verdict.reset_after_ns, 40 * kSecond);

  EXPECT_EQ(bucket.Take(1, kMinuteStart + 59 * kSecond).retry_after_ns,
            kSecond);
  EXPECT_FALSE(bucket.Take(1, kMinuteStart + kMinute - 1).allowed);
  EXPECT_TRUE(bucket.Take(5, kMinuteStart + kMinute).allowed);
}

TEST(FixedWindow, ADayIsADayInUtc) {
  OneBucket bucket(FixedWindow(), MakeLimit(1, absl::Hours(24)));
  const int64_t midnight = 19'676 * int64_t{86'400} * kSecond;  // 2023-11-15
  ASSERT_TRUE(bucket.Take(1, midnight - 1).allowed);

  EXPECT_TRUE(bucket.Take(1, midnight).allowed);
  EXPECT_EQ(bucket.Take(1, midnight).retry_after_ns, 86'400 * kSecond);
}

// The flaw that calendar quotas accept, and that token_bucket, sliding_log and
// leaky_bucket do not have.
TEST(FixedWindow, AdmitsTwiceTheLimitWithinOneNanosecondAtAnEdge) {
  OneBucket bucket(FixedWindow(), PerMinute(100));

  EXPECT_TRUE(bucket.Take(100, kMinuteStart + kMinute - 1).allowed);
  EXPECT_TRUE(bucket.Take(100, kMinuteStart + kMinute).allowed);
  EXPECT_FALSE(bucket.Take(1, kMinuteStart + kMinute).allowed);
}

TEST(FixedWindow, ARefundAfterTheWindowMovedOnGivesNothing) {
  OneBucket bucket(FixedWindow(), PerMinute(5));
  const int64_t last = kMinuteStart + kMinute - 1;
  ASSERT_TRUE(bucket.Take(3, last).allowed);
  ASSERT_TRUE(bucket.Take(5, last + 1).allowed);

  bucket.Refund(3, last, last + 1);
  EXPECT_EQ(bucket.Remaining(last + 1), 0u);

  bucket.Refund(3, last + 1, last + 1);
  EXPECT_EQ(bucket.Remaining(last + 1), 3u);
}

TEST(FixedWindow, TimeBackwardsOpensNoEarlierWindow) {
  OneBucket bucket(FixedWindow(), PerMinute(5));
  ASSERT_TRUE(bucket.Take(5, kMinuteStart - 1).allowed);
  ASSERT_TRUE(bucket.Take(2, kMinuteStart).allowed);

  const Verdict verdict = bucket.Take(3, kMinuteStart - 1);
  EXPECT_TRUE(verdict.allowed);
  EXPECT_EQ(verdict.at_ns, kMinuteStart);
  EXPECT_EQ(bucket.Take(1, kMinuteStart - 1).retry_after_ns, kMinute);
}

TEST(FixedWindow, AReloadCountsWhatIsSpentIntoTheWindowThatRuns) {
  OneBucket bucket(FixedWindow(), PerMinute(10));
  ASSERT_TRUE(bucket.Take(6, kMinuteStart + kSecond).allowed);

  // The hour began 13 minutes ago.
  bucket.Rescale(PerHour(100), kMinuteStart + 2 * kSecond);

  EXPECT_EQ(bucket.Remaining(kMinuteStart + kMinute), 94u);
  EXPECT_EQ(bucket.Remaining(kMinuteStart + 47 * kMinute - 1), 94u);
  EXPECT_EQ(bucket.Remaining(kMinuteStart + 47 * kMinute), 100u);
}

TEST(FixedWindow, HasNeitherBurstNorMaxDelay) {
  EXPECT_THAT(FixedWindow().Validate(PerSecond(10)), IsOk());
  EXPECT_THAT(FixedWindow().Validate(PerSecond(10, 20)),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("got a burst of 20, which fixed_window")));
  EXPECT_THAT(
      FixedWindow().Validate(Holding(PerSecond(10), absl::Seconds(1))),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("max_delay")));
}

}  // namespace
}  // namespace tollgate
