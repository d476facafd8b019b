// What every algorithm promises, whatever it counts.
#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/limiter/penalty.h"
#include "tests/limiter/limits.h"
#include "tests/limiter/one_bucket.h"
#include "tests/support/status_matchers.h"

namespace tollgate {
namespace {

class EveryAlgorithm : public testing::TestWithParam<const char*> {
 protected:
  static const Algorithm& algorithm() { return *FindAlgorithm(GetParam()); }
  // Ten in ten seconds, in a form that the algorithm takes.
  static Limit TenInTenSeconds() { return Fit(MakeLimit(10, kTen)); }
  static Limit Fit(const Limit& limit) {
    return algorithm().name() == "leaky_bucket"
               ? Holding(limit, absl::Nanoseconds(1))
               : limit;
  }
  // Each with a ticket of its own.
  static Ask Cost(uint64_t cost, uint64_t reserved = 0) {
    static uint64_t ticket = 0;
    return Ask{cost, reserved, ++ticket};
  }

  static constexpr absl::Duration kTen = absl::Seconds(10);
};

INSTANTIATE_TEST_SUITE_P(Named, EveryAlgorithm,
                         testing::Values("token_bucket", "leaky_bucket",
                                         "fixed_window", "sliding_window",
                                         "sliding_log", "concurrency"),
                         [](const auto& test) {
                           return std::string(test.param);
                         });

TEST(Algorithms, AreThese) {
  EXPECT_THAT(AlgorithmNames(),
              testing::UnorderedElementsAre("token_bucket", "leaky_bucket",
                                            "fixed_window", "sliding_window",
                                            "sliding_log", "concurrency"));
  EXPECT_EQ(FindAlgorithm("penalty"), nullptr);
  EXPECT_EQ(FindAlgorithm(""), nullptr);
}

TEST_P(EveryAlgorithm, HasItsName) {
  EXPECT_EQ(algorithm().name(), GetParam());
}

TEST_P(EveryAlgorithm, TakesItsLimit) {
  EXPECT_THAT(algorithm().Validate(TenInTenSeconds()), IsOk());
  EXPECT_EQ(algorithm().Capacity(TenInTenSeconds()), 10u);
}

TEST_P(EveryAlgorithm, TakesAllThatIsThereAndNoMore) {
  OneBucket bucket(algorithm(), TenInTenSeconds());

  for (uint64_t left = 10; left-- > 0;) {
    const Verdict verdict = bucket.Take(Cost(1), kStart);
    ASSERT_TRUE(verdict.allowed) << left;
    ASSERT_EQ(verdict.remaining, left);
    ASSERT_EQ(verdict.retry_after_ns, 0);
    ASSERT_EQ(verdict.delay_ns, 0);
    ASSERT_EQ(verdict.at_ns, kStart);
  }
  EXPECT_FALSE(bucket.Take(Cost(1), kStart).allowed);
}

TEST_P(EveryAlgorithm, SaysExactlyHowLongToWait) {
  for (const uint64_t cost : {1, 2, 5, 9, 10}) {
    OneBucket bucket(algorithm(), TenInTenSeconds());
    ASSERT_TRUE(bucket.Take(Cost(4), kStart).allowed);
    ASSERT_TRUE(bucket.Take(Cost(6), kStart + kSecond / 2 + 1).allowed);
    const int64_t now = kStart + kSecond / 2 + 1;

    const Verdict refused = bucket.Take(Cost(cost), now);
    ASSERT_FALSE(refused.allowed);
    ASSERT_GT(refused.retry_after_ns, 0);

    const int64_t then = now + refused.retry_after_ns;
    EXPECT_EQ(bucket.Peek(Cost(cost), then - 1).retry_after_ns, 1) << cost;
    EXPECT_FALSE(bucket.Take(Cost(cost), then - 1).allowed) << cost;
    EXPECT_TRUE(bucket.Peek(Cost(cost), then).allowed) << cost;
    EXPECT_TRUE(bucket.Take(Cost(cost), then).allowed) << cost;
  }
}

TEST_P(EveryAlgorithm, IsFullAgainAfterTheReset) {
  OneBucket bucket(algorithm(), TenInTenSeconds());
  const Verdict verdict = bucket.Take(Cost(7), kStart);
  ASSERT_GT(verdict.reset_after_ns, 0);
  const int64_t full_at = kStart + verdict.reset_after_ns;

  EXPECT_EQ(bucket.Peek(Cost(1), full_at - 1).reset_after_ns, 1);
  EXPECT_LT(bucket.Remaining(full_at - 1), 10u);
  EXPECT_EQ(bucket.Peek(Cost(1), full_at).reset_after_ns, 0);
  EXPECT_EQ(bucket.Remaining(full_at), 10u);
}

TEST_P(EveryAlgorithm, IsForgettableOnceFullAndTrimmedAndNotBefore) {
  OneBucket bucket(algorithm(), TenInTenSeconds());
  EXPECT_TRUE(bucket.IsForgettable(0));
  const int64_t full_at = kStart + bucket.Take(Cost(7), kStart).reset_after_ns;

  bucket.Trim(full_at - 1);
  EXPECT_FALSE(bucket.IsForgettable(full_at - 1));
  bucket.Trim(full_at);
  EXPECT_TRUE(bucket.IsForgettable(full_at));
}

TEST_P(EveryAlgorithm, IsNotForgettableBeforeItsOwnTimeThoughFull) {
  OneBucket bucket(algorithm(), TenInTenSeconds());
  const int64_t later = kStart + 20 * kSecond;
  const Ask ask = Cost(10);
  ASSERT_TRUE(bucket.Take(ask, later).allowed);
  bucket.Refund(ask, later, later);
  bucket.Trim(kStart);

  // It has seen `later`; an untouched one would start at `kStart` again.
  EXPECT_FALSE(bucket.IsForgettable(kStart));
  EXPECT_TRUE(bucket.IsForgettable(later));
}

TEST_P(EveryAlgorithm, ARefusalChangesNothing) {
  OneBucket bucket(algorithm(), TenInTenSeconds());
  ASSERT_TRUE(bucket.Take(Cost(8), kStart).allowed);
  const BucketState before = bucket.state();

  const Verdict refused = bucket.Take(Cost(3), kStart + 5);

  EXPECT_FALSE(refused.allowed);
  EXPECT_EQ(refused.remaining, 2u);
  EXPECT_EQ(bucket.state().bytes, before.bytes);
  EXPECT_TRUE(bucket.Take(Cost(2), kStart + 5).allowed);
}

TEST_P(EveryAlgorithm, PeekSaysWhatTakeWouldAndChangesNothing) {
  OneBucket bucket(algorithm(), TenInTenSeconds());
  ASSERT_TRUE(bucket.Take(Cost(8), kStart).allowed);
  const BucketState before = bucket.state();

  const Verdict two = bucket.Peek(Cost(2), kStart);
  EXPECT_TRUE(two.allowed);
  EXPECT_EQ(two.remaining, 2u);  // as it stands
  EXPECT_EQ(two.retry_after_ns, 0);
  const Verdict three = bucket.Peek(Cost(3), kStart);
  EXPECT_FALSE(three.allowed);
  EXPECT_EQ(three.remaining, 2u);

  EXPECT_EQ(bucket.state().bytes, before.bytes);
  const Verdict taken = bucket.Take(Cost(3), kStart);
  EXPECT_EQ(taken.retry_after_ns, three.retry_after_ns);
  EXPECT_EQ(taken.reset_after_ns, three.reset_after_ns);
}

TEST_P(EveryAlgorithm, ARefundRestoresWhatWasTaken) {
  OneBucket bucket(algorithm(), TenInTenSeconds());
  ASSERT_TRUE(bucket.Take(Cost(3), kStart).allowed);
  const Ask ask = Cost(7);
  const Verdict taken = bucket.Take(ask, kStart + 1);
  ASSERT_TRUE(taken.allowed);

  bucket.Refund(ask, taken.at_ns, kStart + 1);

  EXPECT_EQ(bucket.Remaining(kStart + 1), 7u);
  EXPECT_TRUE(bucket.Take(Cost(7), kStart + 1).allowed);
  EXPECT_FALSE(bucket.Take(Cost(1), kStart + 1).allowed);
}

TEST_P(EveryAlgorithm, ARefundOnceTheTakeIsForgottenGivesNothing) {
  OneBucket bucket(algorithm(), TenInTenSeconds());
  const Ask ask = Cost(10);
  const Verdict taken = bucket.Take(ask, kStart);
  const int64_t later = kStart + taken.reset_after_ns;
  ASSERT_TRUE(bucket.Take(Cost(10), later).allowed);

  bucket.Trim(later);  // as a sweep might
  if (algorithm().name() != "token_bucket" &&
      algorithm().name() != "leaky_bucket") {
    bucket.Refund(ask, taken.at_ns, later);
    EXPECT_EQ(bucket.Remaining(later), 0u);
  }
  EXPECT_FALSE(bucket.Take(Cost(1), later).allowed);
}

TEST_P(EveryAlgorithm, ARefundNeverLiftsItAboveItsCapacity) {
  OneBucket bucket(algorithm(), TenInTenSeconds());
  const Ask ask = Cost(3);
  ASSERT_TRUE(bucket.Take(ask, kStart).allowed);

  bucket.Refund(ask, kStart, kStart);
  bucket.Refund(ask, kStart, kStart);

  EXPECT_EQ(bucket.Remaining(kStart), 10u);
  ASSERT_TRUE(bucket.Take(Cost(10), kStart).allowed);
  EXPECT_FALSE(bucket.Take(Cost(1), kStart).allowed);
}

TEST_P(EveryAlgorithm, ARefundOfAnUntouchedBucketLeavesItFull) {
  OneBucket bucket(algorithm(), TenInTenSeconds());

  bucket.Refund(Cost(5), kStart, kStart);

  EXPECT_EQ(bucket.Remaining(kStart), 10u);
}

TEST_P(EveryAlgorithm, LeavesWhatIsReserved) {
  OneBucket bucket(algorithm(), TenInTenSeconds());
  // Three must be left for others.
  ASSERT_TRUE(bucket.Take(Cost(6, 3), kStart).allowed);
  ASSERT_TRUE(bucket.Take(Cost(1, 3), kStart).allowed);

  const Verdict refused = bucket.Take(Cost(1, 3), kStart);
  EXPECT_FALSE(refused.allowed);
  EXPECT_EQ(refused.remaining, 3u);
  const int64_t then = kStart + refused.retry_after_ns;
  EXPECT_FALSE(bucket.Peek(Cost(1, 3), then - 1).allowed);
  EXPECT_TRUE(bucket.Peek(Cost(1, 3), then).allowed);

  EXPECT_TRUE(bucket.Take(Cost(3), kStart).allowed);
  EXPECT_FALSE(bucket.Take(Cost(1), kStart).allowed);
}

TEST_P(EveryAlgorithm, TimeBackwardsAddsAndRemovesNothing) {
  OneBucket bucket(algorithm(), TenInTenSeconds());
  const int64_t later = kStart + 100 * kSecond;
  ASSERT_TRUE(bucket.Take(Cost(4), later).allowed);

  for (const int64_t earlier : {later - 1, kStart, int64_t{0}}) {
    EXPECT_EQ(bucket.Remaining(earlier), 6u);
    EXPECT_FALSE(bucket.Peek(Cost(7), earlier).allowed);
  }
  const Verdict taken = bucket.Take(Cost(6), kStart);
  EXPECT_TRUE(taken.allowed);
  EXPECT_GT(taken.at_ns, kStart);  // the bucket's own time
  EXPECT_FALSE(bucket.Take(Cost(1), kStart).allowed);
  EXPECT_FALSE(bucket.Take(Cost(1), later).allowed);
}

TEST_P(EveryAlgorithm, TheWaitAfterTimeWentBackIsAtMostAPeriod) {
  OneBucket bucket(algorithm(), TenInTenSeconds());
  ASSERT_TRUE(bucket.Take(Cost(10), kStart).allowed);

  const Verdict refused = bucket.Take(Cost(1), kStart - 60 * kSecond);

  EXPECT_FALSE(refused.allowed);
  EXPECT_GT(refused.retry_after_ns, 0);
  EXPECT_LE(refused.retry_after_ns, algorithm().name() == "sliding_window"
                                        ? 20 * kSecond
                                        : 10 * kSecond);
}

TEST_P(EveryAlgorithm, RaisingGivesTheDifferenceAtOnce) {
  OneBucket bucket(algorithm(), TenInTenSeconds());
  ASSERT_TRUE(bucket.Take(Cost(10), kStart).allowed);

  bucket.Rescale(Fit(MakeLimit(20, kTen)), kStart);

  EXPECT_EQ(bucket.Remaining(kStart), 10u);
  EXPECT_TRUE(bucket.Take(Cost(10), kStart).allowed);
  EXPECT_FALSE(bucket.Take(Cost(1), kStart).allowed);
}

TEST_P(EveryAlgorithm, LoweringNeverGrants) {
  for (const uint64_t spent : {3, 4, 5, 6, 10}) {
    OneBucket bucket(algorithm(), TenInTenSeconds());
    ASSERT_TRUE(bucket.Take(Cost(spent), kStart).allowed);

    bucket.Rescale(Fit(MakeLimit(5, kTen)), kStart);

    const uint64_t left = spent < 5 ? 5 - spent : 0;
    EXPECT_EQ(bucket.Remaining(kStart), left);
    if (left > 0) {
      EXPECT_TRUE(bucket.Take(Cost(left), kStart).allowed);
    }
    EXPECT_FALSE(bucket.Take(Cost(1), kStart).allowed);
  }
}

TEST_P(EveryAlgorithm, AnotherPeriodKeepsWhatIsSpent) {
  for (const absl::Duration period : {absl::Seconds(1), absl::Seconds(7),
                                      absl::Minutes(1), absl::Hours(24)}) {
    OneBucket bucket(algorithm(), TenInTenSeconds());
    ASSERT_TRUE(bucket.Take(Cost(6), kStart).allowed);

    bucket.Rescale(Fit(MakeLimit(10, period)), kStart);

    EXPECT_EQ(bucket.Remaining(kStart), 4u) << period;
    EXPECT_TRUE(bucket.Take(Cost(4), kStart).allowed) << period;
    EXPECT_FALSE(bucket.Take(Cost(1), kStart).allowed) << period;
  }
}

TEST_P(EveryAlgorithm, WhatIsFullAtAReloadStaysFullUnderALongerPeriod) {
  OneBucket bucket(algorithm(), TenInTenSeconds());
  const int64_t reload = kStart + bucket.Take(Cost(10), kStart).reset_after_ns;

  bucket.Rescale(Fit(MakeLimit(10, absl::Hours(1))), reload);

  EXPECT_EQ(bucket.Remaining(reload), 10u);
  EXPECT_TRUE(bucket.Take(Cost(10), reload).allowed);
}

TEST_P(EveryAlgorithm, RescalingAnUntouchedBucketLeavesItFull) {
  OneBucket bucket(algorithm(), TenInTenSeconds());

  bucket.Rescale(Fit(MakeLimit(20, absl::Minutes(1))), kStart);

  EXPECT_EQ(bucket.Remaining(kStart), 20u);
  EXPECT_TRUE(bucket.IsForgettable(kStart));
}

TEST_P(EveryAlgorithm, HoldsTheFullestLimitToTheLastInstantOfAClock) {
  const uint64_t most =
      algorithm().name() == "sliding_log" || algorithm().name() == "concurrency"
          ? 10'000
          : 4294967295;
  for (const absl::Duration period :
       {absl::Nanoseconds(1), absl::Hours(24 * 3650)}) {
    const int64_t last = int64_t{1} << 62;
    const Limit limit = Fit(MakeLimit(most, period));
    ASSERT_THAT(algorithm().Validate(limit), IsOk());
    OneBucket bucket(algorithm(), limit);

    EXPECT_TRUE(bucket.Take(Cost(most), last).allowed);
    const Verdict refused = bucket.Take(Cost(most), last);
    EXPECT_EQ(refused.allowed, algorithm().name() == "leaky_bucket" &&
                                   period == absl::Nanoseconds(1));
    if (!refused.allowed) {
      EXPECT_TRUE(
          bucket.Take(Cost(most), last + refused.retry_after_ns).allowed);
    }
  }
}

}  // namespace
}  // namespace tollgate
