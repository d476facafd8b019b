#include "server/limiter/concurrency.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/limiter/limits.h"
#include "tests/limiter/one_bucket.h"
#include "tests/support/status_matchers.h"

namespace tollgate {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kTtl = 30 * kSecond;

Limit Slots(uint64_t slots) { return MakeLimit(slots, absl::Seconds(30)); }
Ask Ticket(uint64_t ticket, uint64_t slots = 1) {
  return Ask{slots, 0, ticket};
}

// A holder that is killed never releases.
TEST(Concurrency, RefusesTheThirdOfTwoUntilASlotExpires) {
  OneBucket bucket(Concurrency(), Slots(2));
  ASSERT_TRUE(bucket.Take(Ticket(1), kStart).allowed);
  ASSERT_TRUE(bucket.Take(Ticket(2), kStart + kSecond).allowed);

  const Verdict refused = bucket.Take(Ticket(3), kStart + 2 * kSecond);
  EXPECT_FALSE(refused.allowed);
  EXPECT_EQ(refused.retry_after_ns, kTtl - 2 * kSecond);

  EXPECT_FALSE(bucket.Take(Ticket(3), kStart + kTtl - 1).allowed);
  EXPECT_TRUE(bucket.Take(Ticket(3), kStart + kTtl).allowed);
  EXPECT_FALSE(bucket.Take(Ticket(4), kStart + kTtl).allowed);
}

TEST(Concurrency, AReleaseFreesTheSlotsOfThatTicketAlone) {
  OneBucket bucket(Concurrency(), Slots(10));
  ASSERT_TRUE(bucket.Take(Ticket(1, 4), kStart).allowed);
  ASSERT_TRUE(bucket.Take(Ticket(2, 3), kStart).allowed);

  bucket.Refund(Ticket(1), kStart, kStart + kSecond);  // whatever the cost says

  EXPECT_EQ(bucket.Remaining(kStart + kSecond), 7u);
}

TEST(Concurrency, AReleaseIsIdempotent) {
  OneBucket bucket(Concurrency(), Slots(2));
  ASSERT_TRUE(bucket.Take(Ticket(1), kStart).allowed);
  ASSERT_TRUE(bucket.Take(Ticket(2), kStart).allowed);

  for (int i = 0; i < 3; ++i) bucket.Refund(Ticket(1), kStart, kStart);

  EXPECT_EQ(bucket.Remaining(kStart), 1u);
}

TEST(Concurrency, ALateReleaseDoesNothing) {
  OneBucket bucket(Concurrency(), Slots(1));
  ASSERT_TRUE(bucket.Take(Ticket(1), kStart).allowed);
  ASSERT_TRUE(bucket.Take(Ticket(2), kStart + kTtl).allowed);

  bucket.Refund(Ticket(1), kStart, kStart + kTtl);

  EXPECT_EQ(bucket.Remaining(kStart + kTtl), 0u);
}

TEST(Concurrency, AReleaseOfATicketThatNeverWasDoesNothing) {
  OneBucket bucket(Concurrency(), Slots(1));
  bucket.Refund(Ticket(7), kStart, kStart);
  ASSERT_TRUE(bucket.Take(Ticket(1), kStart).allowed);

  bucket.Refund(Ticket(7), kStart, kStart);

  EXPECT_EQ(bucket.Remaining(kStart), 0u);
}

TEST(Concurrency, WaitsForAsManyExpiriesAsTheCostNeeds) {
  OneBucket bucket(Concurrency(), Slots(6));
  ASSERT_TRUE(bucket.Take(Ticket(1, 2), kStart).allowed);
  ASSERT_TRUE(bucket.Take(Ticket(2, 3), kStart + kSecond).allowed);
  const int64_t now = kStart + 2 * kSecond;

  EXPECT_TRUE(bucket.Peek(Ticket(3, 1), now).allowed);
  EXPECT_EQ(bucket.Peek(Ticket(3, 2), now).retry_after_ns, kTtl - 2 * kSecond);
  EXPECT_EQ(bucket.Peek(Ticket(3, 3), now).retry_after_ns, kTtl - 2 * kSecond);
  EXPECT_EQ(bucket.Peek(Ticket(3, 4), now).retry_after_ns, kTtl - kSecond);
  EXPECT_EQ(bucket.Peek(Ticket(3, 6), now).reset_after_ns, kTtl - kSecond);
}

TEST(Concurrency, AReloadKeepsWhatIsHeldAndItsExpiry) {
  OneBucket bucket(Concurrency(), Slots(3));
  ASSERT_TRUE(bucket.Take(Ticket(1, 3), kStart).allowed);

  bucket.Rescale(MakeLimit(2, absl::Hours(1)), kStart + kSecond);

  EXPECT_EQ(bucket.Remaining(kStart + kSecond), 0u);
  EXPECT_EQ(bucket.Take(Ticket(2), kStart + kSecond).retry_after_ns,
            kTtl - kSecond);
  EXPECT_EQ(bucket.Take(Ticket(2), kStart + kTtl).reset_after_ns,
            3600 * kSecond);
}

TEST(Concurrency, TrimsWhatHasExpiredAndFreesTheListWithTheLast) {
  OneBucket bucket(Concurrency(), Slots(3));
  EXPECT_TRUE(Concurrency().OwnsMemory());
  EXPECT_TRUE(Concurrency().TakesByTicket());
  ASSERT_TRUE(bucket.Take(Ticket(1), kStart).allowed);

  bucket.Trim(kStart + kTtl - 1);
  EXPECT_EQ(bucket.Remaining(kStart), 2u);
  bucket.Trim(kStart + kTtl);
  EXPECT_EQ(bucket.state().As<void*>(), nullptr);
  EXPECT_TRUE(bucket.IsForgettable(kStart + kTtl));
}

TEST(Concurrency, IsForgettableOnceAllIsReleased) {
  OneBucket bucket(Concurrency(), Slots(3));
  ASSERT_TRUE(bucket.Take(Ticket(1), kStart).allowed);
  bucket.Refund(Ticket(1), kStart, kStart + 5);

  bucket.Trim(kStart + 5);

  EXPECT_FALSE(bucket.IsForgettable(kStart + 4));
  EXPECT_TRUE(bucket.IsForgettable(kStart + 5));
}

TEST(Concurrency, TakesAtMost10000SlotsAndNoBurst) {
  EXPECT_THAT(Concurrency().Validate(Slots(10'000)), IsOk());
  EXPECT_THAT(Concurrency().Validate(Slots(10'001)),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("got 10001 slots, want at most 10000")));
  EXPECT_THAT(Concurrency().Validate(PerSecond(10, 20)),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("got a burst of 20")));
}

}  // namespace
}  // namespace tollgate
