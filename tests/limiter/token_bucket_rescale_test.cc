#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "server/limiter/token_bucket.h"
#include "tests/limiter/limits.h"
#include "tests/limiter/one_token_bucket.h"

namespace tollgate {
namespace {

TEST(TokenBucketRescale, RaisingALimitGivesTheDifferenceAtOnce) {
  OneTokenBucket bucket(PerHour(10));
  ASSERT_TRUE(bucket.Take(10, kStart).allowed);

  bucket.Rescale(PerHour(20), kStart);

  EXPECT_EQ(bucket.Remaining(kStart), 10u);
  EXPECT_TRUE(bucket.Take(10, kStart).allowed);
  EXPECT_FALSE(bucket.Take(1, kStart).allowed);
}

TEST(TokenBucketRescale, SpentStaysSpentWithARefillInBetween) {
  OneTokenBucket bucket(PerHour(10));
  ASSERT_TRUE(bucket.Take(10, kStart).allowed);

  // 3 are back after 18 minutes: 7 are spent.
  const int64_t reload = kStart + 18 * 60 * kSecond;
  bucket.Rescale(PerHour(20), reload);

  EXPECT_EQ(bucket.Remaining(reload), 13u);
}

TEST(TokenBucketRescale, LoweringALimitNeverGrants) {
  OneTokenBucket bucket(PerHour(20));
  ASSERT_TRUE(bucket.Take(5, kStart).allowed);

  bucket.Rescale(PerHour(10), kStart);

  EXPECT_EQ(bucket.Remaining(kStart), 5u);
}

TEST(TokenBucketRescale, MoreSpentThanTheNewBurstIsCappedAtIt) {
  OneTokenBucket bucket(PerHour(20));
  ASSERT_TRUE(bucket.Take(15, kStart).allowed);

  bucket.Rescale(PerHour(10), kStart);

  EXPECT_EQ(bucket.Remaining(kStart), 0u);
  // No debt: the first token is back after the new refill.
  EXPECT_EQ(bucket.Take(1, kStart).retry_after_ns, 360 * kSecond);
}

TEST(TokenBucketRescale, SpendingExactlyTheNewBurstLeavesNothing) {
  for (const uint64_t spent : {9, 10, 11}) {
    OneTokenBucket bucket(PerHour(20));
    ASSERT_TRUE(bucket.Take(spent, kStart).allowed);
    bucket.Rescale(PerHour(10), kStart);
    EXPECT_EQ(bucket.Remaining(kStart), spent == 9 ? 1u : 0u) << spent;
  }
}

TEST(TokenBucketRescale, BackAndForthNeverGrants) {
  const Limit limits[] = {
      PerSecond(3),
      PerMinute(7, 11),
      MakeLimit(1'000'000'007, absl::Hours(24), 12),
      MakeLimit(1, absl::Milliseconds(600), 13),
      MakeLimit(4294967295, absl::Nanoseconds(1), 14),
  };
  for (const Limit& a : limits) {
    for (const Limit& b : limits) {
      OneTokenBucket bucket(a);
      ASSERT_TRUE(bucket.Take(2, kStart).allowed);
      for (int i = 0; i < 1000; ++i) {
        bucket.Rescale(b, kStart);
        ASSERT_LE(bucket.Remaining(kStart), b.burst() - 2);
        bucket.Rescale(a, kStart);
        ASSERT_LE(bucket.Remaining(kStart), a.burst() - 2);
      }
      // And what rounding takes away is below a nanosecond's refill in all.
      EXPECT_GE(bucket.Remaining(kStart + 1 + RefillNs(a, 1)) + 1,
                a.burst() - 2)
          << a.ToString() << " and " << b.ToString();
    }
  }
}

TEST(TokenBucketRescale, KeepsAFullBucketFull) {
  OneTokenBucket bucket(PerHour(10));
  ASSERT_TRUE(bucket.Take(10, kStart).allowed);
  const int64_t full_at = kStart + 3600 * kSecond;

  bucket.Rescale(PerMinute(600), full_at);

  EXPECT_EQ(bucket.Remaining(full_at), 600u);
  EXPECT_TRUE(bucket.IsForgettable(full_at));
}

TEST(TokenBucketRescale, TheSameLimitChangesNoAnswer) {
  const Limit limit = PerMinute(7);
  OneTokenBucket bucket(limit);
  ASSERT_TRUE(bucket.Take(5, kStart).allowed);
  const Verdict before = bucket.Peek(7, kStart + 123);

  bucket.Rescale(limit, kStart + 123);

  const Verdict after = bucket.Peek(7, kStart + 123);
  EXPECT_EQ(after.retry_after_ns, before.retry_after_ns);
  EXPECT_EQ(after.reset_after_ns, before.reset_after_ns);
  EXPECT_EQ(after.remaining, before.remaining);
}

TEST(TokenBucketRescale, HoldsBetweenTheExtremes) {
  const Limit fast = MakeLimit(4294967295, absl::Nanoseconds(1));
  const Limit slow = MakeLimit(4294967295, absl::Hours(24 * 3650));
  OneTokenBucket bucket(fast);
  ASSERT_TRUE(bucket.Take(4294967295, kStart).allowed);

  bucket.Rescale(slow, kStart);
  EXPECT_EQ(bucket.Remaining(kStart), 0u);
  EXPECT_EQ(bucket.Take(4294967295, kStart).retry_after_ns, slow.period_ns());

  bucket.Rescale(fast, kStart);
  EXPECT_EQ(bucket.Remaining(kStart), 0u);
  EXPECT_EQ(bucket.Take(4294967295, kStart).retry_after_ns, 1);
}

TEST(TokenBucketRescale, InThePastCountsFromTheBucketsOwnTime) {
  OneTokenBucket bucket(PerHour(10));
  ASSERT_TRUE(bucket.Take(10, kStart).allowed);

  bucket.Rescale(PerHour(20), kStart - 3600 * kSecond);

  EXPECT_EQ(bucket.Remaining(kStart), 10u);
}

}  // namespace
}  // namespace tollgate
