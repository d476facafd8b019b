#include "server/limiter/sliding_log.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/limiter/limits.h"
#include "tests/limiter/one_bucket.h"
#include "tests/support/status_matchers.h"

namespace tollgate {
namespace {

using ::testing::HasSubstr;

constexpr absl::StatusCode kInvalid = absl::StatusCode::kInvalidArgument;

TEST(SlidingLog, CountsEachAdmissionForExactlyOnePeriod) {
  OneBucket bucket(SlidingLog(), MakeLimit(3, absl::Seconds(10)));
  ASSERT_TRUE(bucket.Take(1, kStart).allowed);
  ASSERT_TRUE(bucket.Take(1, kStart + 4 * kSecond).allowed);
  ASSERT_TRUE(bucket.Take(1, kStart + 5 * kSecond).allowed);

  EXPECT_FALSE(bucket.Take(1, kStart + 10 * kSecond - 1).allowed);
  EXPECT_TRUE(bucket.Take(1, kStart + 10 * kSecond).allowed);
  EXPECT_FALSE(bucket.Take(1, kStart + 14 * kSecond - 1).allowed);
  EXPECT_TRUE(bucket.Take(1, kStart + 14 * kSecond).allowed);
}

TEST(SlidingLog, WaitsForAsManyAsTheCostNeeds) {
  OneBucket bucket(SlidingLog(), MakeLimit(6, absl::Seconds(10)));
  ASSERT_TRUE(bucket.Take(1, kStart).allowed);
  ASSERT_TRUE(bucket.Take(2, kStart + kSecond).allowed);
  ASSERT_TRUE(bucket.Take(3, kStart + 2 * kSecond).allowed);
  const int64_t now = kStart + 2 * kSecond;

  EXPECT_EQ(bucket.Peek(1, now).retry_after_ns, 8 * kSecond);
  EXPECT_EQ(bucket.Peek(2, now).retry_after_ns, 9 * kSecond);
  EXPECT_EQ(bucket.Peek(3, now).retry_after_ns, 9 * kSecond);
  EXPECT_EQ(bucket.Peek(4, now).retry_after_ns, 10 * kSecond);
  EXPECT_EQ(bucket.Peek(6, now).retry_after_ns, 10 * kSecond);
}

TEST(SlidingLog, IsFullWhenTheLatestAdmissionIsPast) {
  OneBucket bucket(SlidingLog(), MakeLimit(6, absl::Seconds(10)));
  ASSERT_TRUE(bucket.Take(1, kStart).allowed);
  EXPECT_EQ(bucket.Take(1, kStart + kSecond).reset_after_ns, 10 * kSecond);

  EXPECT_EQ(bucket.Peek(1, kStart + 3 * kSecond).reset_after_ns, 8 * kSecond);
}

TEST(SlidingLog, ARefundTakesOutOnlyWhatWasTakenThen) {
  OneBucket bucket(SlidingLog(), MakeLimit(10, absl::Seconds(10)));
  ASSERT_TRUE(bucket.Take(3, kStart).allowed);
  ASSERT_TRUE(bucket.Take(5, kStart + kSecond).allowed);

  bucket.Refund(2, kStart, kStart + kSecond);
  EXPECT_EQ(bucket.Remaining(kStart + kSecond), 4u);
  bucket.Refund(9, kStart, kStart + kSecond);  // at most the one that is left
  EXPECT_EQ(bucket.Remaining(kStart + kSecond), 5u);
  bucket.Refund(5, kStart + 7, kStart + kSecond);  // nothing was taken then
  EXPECT_EQ(bucket.Remaining(kStart + kSecond), 5u);
}

TEST(SlidingLog, ARefundAfterTheWindowMovedOnGivesNothing) {
  OneBucket bucket(SlidingLog(), MakeLimit(10, absl::Seconds(10)));
  ASSERT_TRUE(bucket.Take(4, kStart).allowed);
  ASSERT_TRUE(bucket.Take(6, kStart + 9 * kSecond).allowed);

  bucket.Refund(4, kStart, kStart + 10 * kSecond);

  EXPECT_EQ(bucket.Remaining(kStart + 10 * kSecond), 4u);
}

TEST(SlidingLog, TakesAtMost10000Tokens) {
  EXPECT_THAT(SlidingLog().Validate(PerSecond(10'000)), IsOk());
  EXPECT_THAT(SlidingLog().Validate(PerSecond(10'001)),
              StatusIs(kInvalid, HasSubstr("got 10001 tokens, want at most "
                                           "10000 with sliding_log")));
}

TEST(SlidingLog, HasNeitherBurstNorMaxDelay) {
  EXPECT_THAT(SlidingLog().Validate(PerSecond(10, 20)),
              StatusIs(kInvalid, HasSubstr("got a burst of 20")));
  EXPECT_THAT(SlidingLog().Validate(Holding(PerSecond(10), absl::Seconds(1))),
              StatusIs(kInvalid, HasSubstr("max_delay")));
}

TEST(SlidingLog, HoldsItsLargestLimitOneByOne) {
  OneBucket bucket(SlidingLog(), PerSecond(10'000));
  for (int64_t i = 0; i < 10'000; ++i) {
    ASSERT_TRUE(bucket.Take(1, kStart + i).allowed) << i;
  }

  EXPECT_FALSE(bucket.Take(1, kStart + 10'000).allowed);
  EXPECT_FALSE(bucket.Take(1, kStart + kSecond - 1).allowed);
  EXPECT_TRUE(bucket.Take(1, kStart + kSecond).allowed);
  EXPECT_FALSE(bucket.Take(1, kStart + kSecond).allowed);
}

TEST(SlidingLog, TrimsWhatIsPastAndFreesTheLogWithTheLast) {
  OneBucket bucket(SlidingLog(), MakeLimit(10, absl::Seconds(10)));
  EXPECT_TRUE(SlidingLog().OwnsMemory());
  ASSERT_TRUE(bucket.Take(4, kStart).allowed);

  bucket.Trim(kStart + 10 * kSecond - 1);
  EXPECT_EQ(bucket.Remaining(kStart), 6u);
  EXPECT_FALSE(bucket.IsForgettable(kStart + 10 * kSecond));

  bucket.Trim(kStart + 10 * kSecond);
  EXPECT_EQ(bucket.state().As<void*>(), nullptr);
  EXPECT_TRUE(bucket.IsForgettable(kStart + 10 * kSecond));
}

TEST(SlidingLog, LoweringKeepsTheLog) {
  OneBucket bucket(SlidingLog(), MakeLimit(20, absl::Seconds(10)));
  ASSERT_TRUE(bucket.Take(10, kStart).allowed);
  ASSERT_TRUE(bucket.Take(5, kStart + kSecond).allowed);

  bucket.Rescale(MakeLimit(10, absl::Seconds(10)), kStart + kSecond);
  EXPECT_EQ(bucket.Remaining(kStart + kSecond), 0u);
  EXPECT_EQ(bucket.Peek(1, kStart + kSecond).retry_after_ns, 9 * kSecond);

  // Lowering and raising again grants nothing.
  bucket.Rescale(MakeLimit(20, absl::Seconds(10)), kStart + kSecond);
  EXPECT_EQ(bucket.Remaining(kStart + kSecond), 5u);
}

TEST(SlidingLog, WhatWasPastAtAReloadStaysPast) {
  OneBucket bucket(SlidingLog(), MakeLimit(10, absl::Seconds(10)));
  ASSERT_TRUE(bucket.Take(4, kStart).allowed);
  ASSERT_TRUE(bucket.Take(3, kStart + 5 * kSecond).allowed);

  const int64_t reload = kStart + 10 * kSecond;
  bucket.Rescale(MakeLimit(10, absl::Minutes(1)), reload);

  EXPECT_EQ(bucket.Remaining(reload), 7u);
  EXPECT_EQ(bucket.Remaining(kStart + 65 * kSecond - 1), 7u);
  EXPECT_EQ(bucket.Remaining(kStart + 65 * kSecond), 10u);
}

}  // namespace
}  // namespace tollgate
