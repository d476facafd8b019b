#include "server/limiter/leaky_bucket.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/limiter/limits.h"
#include "tests/limiter/one_bucket.h"
#include "tests/support/status_matchers.h"

namespace tollgate {
namespace {

using ::testing::HasSubstr;

// Ten per second, bursts of `burst`, and at most `hold` late.
OneBucket Bucket(uint64_t burst, absl::Duration hold) {
  return OneBucket(LeakyBucket(), Holding(PerSecond(10, burst), hold));
}

TEST(LeakyBucket, SpacesOutWhatComesAtOnce) {
  OneBucket bucket = Bucket(1, absl::Milliseconds(300));

  for (const int64_t delay : {0, 100, 200, 300}) {
    const Verdict verdict = bucket.Take(1, kStart);
    EXPECT_TRUE(verdict.allowed);
    EXPECT_EQ(verdict.delay_ns, delay * kMilli);
    EXPECT_EQ(verdict.retry_after_ns, 0);
    EXPECT_EQ(verdict.remaining, 0u);
  }
  const Verdict refused = bucket.Take(1, kStart);
  EXPECT_FALSE(refused.allowed);
  EXPECT_EQ(refused.delay_ns, 0);
  EXPECT_EQ(refused.retry_after_ns, 100 * kMilli);
}

TEST(LeakyBucket, LetsABurstGoAtOnceAndDelaysTheRest) {
  OneBucket bucket = Bucket(3, absl::Seconds(1));

  EXPECT_EQ(bucket.Take(3, kStart).delay_ns, 0);
  EXPECT_EQ(bucket.Take(1, kStart).delay_ns, 100 * kMilli);
  EXPECT_EQ(bucket.Take(2, kStart).delay_ns, 300 * kMilli);
}

TEST(LeakyBucket, DelaysUpToTheHoldAndRefusesOneNanosecondBeyond) {
  for (const int64_t hold : {99, 100, 101}) {
    OneBucket bucket = Bucket(1, absl::Milliseconds(hold));
    ASSERT_TRUE(bucket.Take(1, kStart).allowed);
    EXPECT_EQ(bucket.Take(1, kStart).allowed, hold >= 100) << hold;
  }
  OneBucket bucket = Bucket(1, absl::Nanoseconds(100 * kMilli - 1));
  ASSERT_TRUE(bucket.Take(1, kStart).allowed);
  const Verdict refused = bucket.Take(1, kStart);
  EXPECT_FALSE(refused.allowed);
  EXPECT_EQ(refused.retry_after_ns, 1);
  EXPECT_EQ(bucket.Take(1, kStart + 1).delay_ns, 100 * kMilli - 1);
}

TEST(LeakyBucket, ADelayIsRoundedUpToAWholeNanosecond) {
  OneBucket bucket(LeakyBucket(), Holding(PerSecond(3, 1), absl::Seconds(1)));
  ASSERT_TRUE(bucket.Take(1, kStart).allowed);

  EXPECT_EQ(bucket.Take(1, kStart).delay_ns, 333'333'334);
  EXPECT_EQ(bucket.Take(1, kStart).delay_ns, 666'666'667);
  EXPECT_EQ(bucket.Take(1, kStart).delay_ns, kSecond);
}

TEST(LeakyBucket, PeekTellsTheDelay) {
  OneBucket bucket = Bucket(1, absl::Seconds(1));
  ASSERT_TRUE(bucket.Take(1, kStart).allowed);

  EXPECT_TRUE(bucket.Peek(1, kStart).allowed);
  EXPECT_EQ(bucket.Peek(1, kStart).delay_ns, 100 * kMilli);
  EXPECT_EQ(bucket.Peek(1, kStart + 60 * kMilli).delay_ns, 40 * kMilli);
}

TEST(LeakyBucket, ARefundTakesBackTheDelayOfTheNext) {
  OneBucket bucket = Bucket(5, absl::Seconds(1));
  ASSERT_TRUE(bucket.Take(5, kStart).allowed);
  ASSERT_EQ(bucket.Take(5, kStart).delay_ns, 500 * kMilli);

  bucket.Refund(5, kStart, kStart);

  EXPECT_EQ(bucket.Take(1, kStart).delay_ns, 100 * kMilli);
}

// More would go ahead at one instant than the burst.
TEST(LeakyBucket, CanTakeTheBurstAtOnceAndNoMoreHoweverLongTheHold) {
  EXPECT_EQ(LeakyBucket().Capacity(Holding(PerSecond(10, 3), absl::Hours(1))),
            3u);
}

TEST(LeakyBucket, LoweringTheLimitKeepsTheQueue) {
  OneBucket bucket = Bucket(1, absl::Seconds(1));
  for (int i = 0; i < 6; ++i) bucket.Take(1, kStart);

  // Six are spent; at five per second they take 1.2 s.
  bucket.Rescale(Holding(PerSecond(5, 1), absl::Seconds(10)), kStart);

  EXPECT_EQ(bucket.Take(1, kStart).delay_ns, 1200 * kMilli);
}

TEST(LeakyBucket, WantsAMaxDelay) {
  EXPECT_THAT(LeakyBucket().Validate(PerSecond(10)),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("max_delay above 0")));
  EXPECT_THAT(
      LeakyBucket().Validate(Holding(PerSecond(10, 20), absl::Nanoseconds(1))),
      IsOk());
}

}  // namespace
}  // namespace tollgate
