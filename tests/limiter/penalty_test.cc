#include "server/limiter/penalty.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/limiter/limits.h"
#include "tests/limiter/one_bucket.h"
#include "tests/support/status_matchers.h"

namespace tollgate {
namespace {

// Three refusals in a second are let be; the next blocks for ten minutes.
constexpr int64_t kBlock = 600 * kSecond;
Limit Three() { return Holding(PerSecond(3), absl::Minutes(10)); }

TEST(Penalty, BlocksWithTheRefusalThatIsOverTheLimit) {
  OneBucket bucket(Penalty(), Three());
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(bucket.Take(1, kStart).allowed);
  EXPECT_TRUE(bucket.Peek(1, kStart).allowed);  // refused often, not blocked

  const Verdict verdict = bucket.Take(1, kStart);

  EXPECT_FALSE(verdict.allowed);
  EXPECT_EQ(verdict.retry_after_ns, kBlock);
  EXPECT_EQ(verdict.reset_after_ns, kBlock);
}

TEST(Penalty, BlocksForExactlyTheHold) {
  OneBucket bucket(Penalty(), Three());
  for (int i = 0; i < 4; ++i) bucket.Take(1, kStart);

  EXPECT_EQ(bucket.Peek(1, kStart + 7).retry_after_ns, kBlock - 7);
  EXPECT_FALSE(bucket.Peek(1, kStart + kBlock - 1).allowed);
  EXPECT_TRUE(bucket.Peek(1, kStart + kBlock).allowed);
}

TEST(Penalty, ABlockIsNotMadeLongerAndTheCountStartsAfreshAfterIt) {
  OneBucket bucket(Penalty(), Three());
  for (int i = 0; i < 9; ++i) bucket.Take(1, kStart + i);
  const int64_t end = kStart + 3 + kBlock;

  EXPECT_EQ(bucket.Peek(1, end - 1).retry_after_ns, 1);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(bucket.Take(1, end).allowed);
  EXPECT_FALSE(bucket.Take(1, end).allowed);
}

TEST(Penalty, RefusalsWithinTheLimitAreForgivenOverTime) {
  OneBucket bucket(Penalty(), Three());
  for (int i = 0; i < 300; ++i) {
    ASSERT_TRUE(bucket.Take(1, kStart + i * kSecond / 3 + i).allowed) << i;
  }
}

TEST(Penalty, IsForgettableWhenTheBlockIsOverAndNotBefore) {
  OneBucket bucket(Penalty(), Three());
  EXPECT_TRUE(bucket.IsForgettable(kStart));
  bucket.Take(1, kStart);
  EXPECT_FALSE(bucket.IsForgettable(kStart + kSecond / 3));
  EXPECT_TRUE(bucket.IsForgettable(kStart + kSecond / 3 + 1));

  for (int i = 0; i < 3; ++i) bucket.Take(1, kStart);
  EXPECT_FALSE(bucket.IsForgettable(kStart + kBlock - 1));
  EXPECT_TRUE(bucket.IsForgettable(kStart + kBlock));
}

TEST(Penalty, AReloadLeavesABlockAndKeepsTheCount) {
  OneBucket blocked(Penalty(), Three());
  for (int i = 0; i < 4; ++i) blocked.Take(1, kStart);
  blocked.Rescale(Holding(PerSecond(100), absl::Seconds(1)), kStart);
  EXPECT_EQ(blocked.Peek(1, kStart).retry_after_ns, kBlock);

  OneBucket counting(Penalty(), Three());
  for (int i = 0; i < 3; ++i) counting.Take(1, kStart);
  counting.Rescale(Holding(PerSecond(4), absl::Seconds(1)), kStart);
  EXPECT_TRUE(counting.Take(1, kStart).allowed);
  EXPECT_EQ(counting.Take(1, kStart).retry_after_ns, kSecond);
}

TEST(Penalty, TimeBackwardsDoesNotEndABlock) {
  OneBucket bucket(Penalty(), Three());
  for (int i = 0; i < 4; ++i) bucket.Take(1, kStart);

  EXPECT_EQ(bucket.Peek(1, kStart - kSecond).retry_after_ns, kBlock);
}

TEST(Penalty, WantsABlock) {
  EXPECT_THAT(Penalty().Validate(Three()), IsOk());
  EXPECT_THAT(Penalty().Validate(PerSecond(3)),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       testing::HasSubstr("block above 0")));
}

}  // namespace
}  // namespace tollgate
