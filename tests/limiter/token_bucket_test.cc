#include "server/limiter/token_bucket.h"

#include <algorithm>

#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/limiter/limits.h"
#include "tests/limiter/one_token_bucket.h"
#include "tests/support/status_matchers.h"

namespace tollgate {
namespace {

// Limits whose refill is a whole number of nanoseconds and ones where it is
// not, and the extremes of both.
class TokenBucketUnder : public testing::TestWithParam<Limit> {};

INSTANTIATE_TEST_SUITE_P(
    Limits, TokenBucketUnder,
    testing::Values(PerSecond(3), PerMinute(7),
                    MakeLimit(1'000'000'007, absl::Hours(24)),
                    MakeLimit(1, absl::Milliseconds(600)),
                    MakeLimit(4294967295, absl::Seconds(1)),
                    MakeLimit(4294967295, absl::Nanoseconds(1)),
                    MakeLimit(4294967295, absl::Hours(24 * 3650)),
                    MakeLimit(1, absl::Hours(24 * 3650)),
                    MakeLimit(1, absl::Hours(24 * 3650), 10),
                    MakeLimit(1, absl::Nanoseconds(1), 4294967295),
                    PerSecond(10, 1), PerSecond(7, 1000)));

TEST_P(TokenBucketUnder, StartsWithExactlyTheBurst) {
  const Limit limit = GetParam();
  OneTokenBucket bucket(limit);

  const Verdict verdict = bucket.Take(limit.burst(), kStart);

  EXPECT_TRUE(verdict.allowed);
  EXPECT_EQ(verdict.remaining, 0u);
  EXPECT_EQ(verdict.retry_after_ns, 0);
  EXPECT_EQ(verdict.reset_after_ns, RefillNs(limit, limit.burst()));
  EXPECT_FALSE(bucket.Take(1, kStart).allowed);
}

TEST_P(TokenBucketUnder, RefusesOneNanosecondBeforeEachRefillAndAllowsAtIt) {
  const Limit limit = GetParam();
  OneTokenBucket bucket(limit);
  ASSERT_TRUE(bucket.Take(limit.burst(), kStart).allowed);

  // Where many tokens refill in one nanosecond, the state before it says
  // nothing about the k-th, so each step refills at least one nanosecond.
  const uint64_t step =
      std::max<uint64_t>(1, limit.tokens() / limit.period_ns());
  const uint64_t steps = std::min<uint64_t>(limit.burst() / step, 1000);
  int64_t last = kStart;
  for (uint64_t k = 1; k <= steps; ++k) {
    const int64_t refilled = kStart + RefillNs(limit, k * step);
    if (refilled - 1 > last) {
      ASSERT_FALSE(bucket.Take(step, refilled - 1).allowed) << k;
    }
    ASSERT_TRUE(bucket.Take(step, refilled).allowed) << k;
    last = refilled;
  }
}

TEST_P(TokenBucketUnder, SaysExactlyHowLongToWait) {
  const Limit limit = GetParam();
  for (const uint64_t cost : {uint64_t{1}, uint64_t{limit.burst() / 2 + 1},
                              uint64_t{limit.burst()}}) {
    OneTokenBucket bucket(limit);
    ASSERT_TRUE(bucket.Take(limit.burst(), kStart).allowed);

    const Verdict refused = bucket.Take(cost, kStart);
    ASSERT_FALSE(refused.allowed);
    EXPECT_EQ(refused.retry_after_ns, RefillNs(limit, cost));
    const int64_t then = kStart + refused.retry_after_ns;

    EXPECT_FALSE(bucket.Take(cost, then - 1).allowed);
    EXPECT_TRUE(bucket.Take(cost, then).allowed);
  }
}

TEST_P(TokenBucketUnder, IsFullAfterTheResetAndNotOneNanosecondBefore) {
  const Limit limit = GetParam();
  OneTokenBucket bucket(limit);
  const Verdict verdict = bucket.Take(limit.burst() / 2 + 1, kStart);
  const int64_t full_at = kStart + verdict.reset_after_ns;

  EXPECT_EQ(verdict.reset_after_ns, RefillNs(limit, limit.burst() / 2 + 1));
  EXPECT_FALSE(bucket.IsForgettable(full_at - 1));
  EXPECT_GT(bucket.Peek(1, full_at - 1).reset_after_ns, 0);
  EXPECT_TRUE(bucket.IsForgettable(full_at));
  EXPECT_EQ(bucket.Peek(1, full_at).reset_after_ns, 0);
  EXPECT_EQ(bucket.Remaining(full_at), limit.burst());
}

TEST_P(TokenBucketUnder, NeverHoldsMoreThanTheBurstHoweverLongItIdles) {
  const Limit limit = GetParam();
  OneTokenBucket bucket(limit);
  ASSERT_TRUE(bucket.Take(limit.burst(), kStart).allowed);
  const int64_t later =
      kStart + RefillNs(limit, limit.burst()) + 1'000'000 * kSecond;

  EXPECT_EQ(bucket.Remaining(later), limit.burst());
  EXPECT_TRUE(bucket.Take(limit.burst(), later).allowed);
  EXPECT_FALSE(bucket.Take(1, later).allowed);
}

TEST_P(TokenBucketUnder, WorksUpToTheLastInstantOfAClock) {
  const Limit limit = GetParam();
  const int64_t last = int64_t{1} << 62;
  OneTokenBucket bucket(limit);

  EXPECT_TRUE(bucket.Take(limit.burst(), last).allowed);
  EXPECT_EQ(bucket.Take(limit.burst(), last).retry_after_ns,
            RefillNs(limit, limit.burst()));
}

TEST_P(TokenBucketUnder, TakesBackARefundToTheVeryBit) {
  const Limit limit = GetParam();
  OneTokenBucket bucket(limit);
  bucket.Take(limit.burst() / 2 + 1, kStart);
  const uint64_t left = bucket.Remaining(kStart);
  const BucketState before = bucket.state();
  if (left == 0) return;  // nothing more to take and give back

  ASSERT_TRUE(bucket.Take(left, kStart).allowed);
  bucket.Refund(left, kStart);

  EXPECT_EQ(bucket.state().bytes, before.bytes);
}

TEST(TokenBucket, IsFoundByItsName) {
  EXPECT_EQ(TokenBucket().name(), "token_bucket");
  EXPECT_EQ(FindAlgorithm("token_bucket"), &TokenBucket());
  EXPECT_EQ(FindAlgorithm("Token_bucket"), nullptr);
  EXPECT_EQ(FindAlgorithm(""), nullptr);
}

TEST(TokenBucket, KeepsEveryLimitWithItsBurstAsCapacity) {
  EXPECT_THAT(TokenBucket().Validate(PerSecond(10, 25)), IsOk());
  EXPECT_EQ(TokenBucket().Capacity(PerSecond(10, 25)), 25u);
}

TEST(TokenBucket, LosesNothingToRoundingOverManyRefills) {
  // 3 per second: a token each 333,333,333 1/3 ns.
  OneTokenBucket bucket(PerSecond(3));
  ASSERT_TRUE(bucket.Take(3, 0).allowed);

  EXPECT_FALSE(bucket.Take(1, 333'333'333).allowed);
  EXPECT_TRUE(bucket.Take(1, 333'333'334).allowed);
  EXPECT_FALSE(bucket.Take(1, 666'666'666).allowed);
  EXPECT_TRUE(bucket.Take(1, 666'666'667).allowed);
  EXPECT_FALSE(bucket.Take(1, 999'999'999).allowed);
  EXPECT_TRUE(bucket.Take(1, 1'000'000'000).allowed);
}

TEST(TokenBucket, CountsWholeTokensDown) {
  OneTokenBucket bucket(PerSecond(10));

  EXPECT_EQ(bucket.Take(1, kStart).remaining, 9u);
  EXPECT_EQ(bucket.Take(4, kStart).remaining, 5u);
  // A token refills in 100 ms; one nanosecond less is no token.
  EXPECT_EQ(bucket.Remaining(kStart + 100 * kMilli - 1), 5u);
  EXPECT_EQ(bucket.Remaining(kStart + 100 * kMilli), 6u);
}

TEST(TokenBucket, RefusalChangesNothing) {
  OneTokenBucket bucket(PerSecond(10));
  ASSERT_TRUE(bucket.Take(8, kStart).allowed);
  const BucketState before = bucket.state();

  const Verdict refused = bucket.Take(3, kStart + 5);

  EXPECT_FALSE(refused.allowed);
  EXPECT_EQ(refused.remaining, 2u);
  EXPECT_EQ(refused.retry_after_ns, 100 * kMilli - 5);
  EXPECT_EQ(refused.reset_after_ns, 800 * kMilli - 5);
  EXPECT_EQ(bucket.state().bytes, before.bytes);
}

TEST(TokenBucket, PeekSaysWhatATakeWouldGet) {
  OneTokenBucket bucket(PerSecond(10));
  ASSERT_TRUE(bucket.Take(8, kStart).allowed);

  const Verdict two = bucket.Peek(2, kStart);
  EXPECT_TRUE(two.allowed);
  EXPECT_EQ(two.remaining, 2u);  // as it stands
  EXPECT_EQ(two.reset_after_ns, 800 * kMilli);
  EXPECT_EQ(two.retry_after_ns, 0);

  const Verdict three = bucket.Peek(3, kStart);
  EXPECT_FALSE(three.allowed);
  EXPECT_EQ(three.remaining, 2u);
  EXPECT_EQ(three.retry_after_ns, 100 * kMilli);
}

TEST(TokenBucket, PeekOfAnUntouchedBucketIsFull) {
  const OneTokenBucket bucket(PerSecond(10, 25));

  const Verdict verdict = bucket.Peek(25, kStart);

  EXPECT_TRUE(verdict.allowed);
  EXPECT_EQ(verdict.remaining, 25u);
  EXPECT_EQ(verdict.reset_after_ns, 0);
}

TEST(TokenBucket, RefundGivesTokensBack) {
  OneTokenBucket bucket(PerSecond(10));
  ASSERT_TRUE(bucket.Take(10, kStart).allowed);

  bucket.Refund(4, kStart);

  EXPECT_EQ(bucket.Remaining(kStart), 4u);
  EXPECT_TRUE(bucket.Take(4, kStart).allowed);
  EXPECT_FALSE(bucket.Take(1, kStart).allowed);
}

TEST(TokenBucket, RefundNeverLiftsABucketAboveItsCapacity) {
  OneTokenBucket bucket(PerSecond(10));
  ASSERT_TRUE(bucket.Take(3, kStart).allowed);

  bucket.Refund(4, kStart);
  EXPECT_EQ(bucket.Remaining(kStart), 10u);
  bucket.Refund(4294967295, kStart);
  EXPECT_EQ(bucket.Remaining(kStart), 10u);

  ASSERT_TRUE(bucket.Take(10, kStart).allowed);
  EXPECT_FALSE(bucket.Take(1, kStart).allowed);
}

TEST(TokenBucket, RefundAfterTheRefillGivesNothing) {
  OneTokenBucket bucket(PerSecond(10));
  ASSERT_TRUE(bucket.Take(10, kStart).allowed);

  bucket.Refund(10, kStart + kSecond);

  ASSERT_TRUE(bucket.Take(10, kStart + kSecond).allowed);
  EXPECT_FALSE(bucket.Take(1, kStart + kSecond).allowed);
}

TEST(TokenBucket, RefundOfAnUntouchedBucketLeavesItFull) {
  OneTokenBucket bucket(PerSecond(10));

  bucket.Refund(5, kStart);

  EXPECT_EQ(bucket.Remaining(kStart), 10u);
  EXPECT_TRUE(bucket.IsForgettable(kStart));
}

TEST(TokenBucket, IsForgettableWhileUntouched) {
  EXPECT_TRUE(OneTokenBucket(PerSecond(1)).IsForgettable(0));
  EXPECT_TRUE(OneTokenBucket(PerSecond(1)).IsForgettable(kStart));
}

TEST(TokenBucket, AFractionOfANanosecondIsNotYetFull) {
  // One of 3 per second is back after 333,333,333 1/3 ns.
  OneTokenBucket bucket(PerSecond(3));
  ASSERT_TRUE(bucket.Take(1, kStart).allowed);

  EXPECT_FALSE(bucket.IsForgettable(kStart + 333'333'333));
  EXPECT_TRUE(bucket.IsForgettable(kStart + 333'333'334));
}

TEST(TokenBucket, TimeBackwardsAddsAndRemovesNothing) {
  OneTokenBucket bucket(PerSecond(10));
  ASSERT_TRUE(bucket.Take(4, kStart).allowed);

  EXPECT_EQ(bucket.Remaining(kStart - 60 * kSecond), 6u);
  EXPECT_EQ(bucket.Remaining(0), 6u);
  EXPECT_TRUE(bucket.Take(6, kStart - 60 * kSecond).allowed);
  EXPECT_FALSE(bucket.Take(1, kStart - 60 * kSecond).allowed);
  // The bucket's own time stood still meanwhile.
  EXPECT_EQ(bucket.Remaining(kStart), 0u);
  EXPECT_EQ(bucket.Remaining(kStart + 100 * kMilli), 1u);
}

TEST(TokenBucket, WaitAfterTimeWentBackIsAtMostTheRefill) {
  OneTokenBucket bucket(PerSecond(10));
  ASSERT_TRUE(bucket.Take(10, kStart).allowed);

  EXPECT_EQ(bucket.Take(1, kStart - 60 * kSecond).retry_after_ns, 100 * kMilli);
  EXPECT_EQ(bucket.Take(10, kStart - 60 * kSecond).retry_after_ns, kSecond);
}

TEST(TokenBucket, RefundInThePastDoesNotMoveTimeBack) {
  OneTokenBucket bucket(PerSecond(10));
  ASSERT_TRUE(bucket.Take(10, kStart).allowed);

  bucket.Refund(2, kStart - kSecond);

  EXPECT_EQ(bucket.Remaining(kStart), 2u);
}

TEST(TokenBucket, RefundMovesTimeOn) {
  OneTokenBucket bucket(PerSecond(10));
  ASSERT_TRUE(bucket.Take(10, kStart).allowed);

  bucket.Refund(1, kStart + 200 * kMilli);  // 2 refilled, 1 given back

  // Seen from before that instant, no less and no more.
  EXPECT_EQ(bucket.Remaining(kStart), 3u);
  EXPECT_EQ(bucket.Remaining(kStart + 200 * kMilli), 3u);
}

TEST(TokenBucket, IsNotForgettableBeforeItsOwnTimeThoughFull) {
  OneTokenBucket bucket(PerSecond(10));
  ASSERT_TRUE(bucket.Take(1, kStart).allowed);
  bucket.Refund(1, kStart);
  ASSERT_EQ(bucket.Remaining(kStart), 10u);

  // An untouched one would refill the last nanosecond once more.
  EXPECT_FALSE(bucket.IsForgettable(kStart - 1));
  EXPECT_TRUE(bucket.IsForgettable(kStart));
}

}  // namespace
}  // namespace tollgate
