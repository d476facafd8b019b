#include "server/limiter/limit.h"

#include <limits>

#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace tollgate {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr absl::StatusCode kInvalid = absl::StatusCode::kInvalidArgument;
constexpr absl::Duration kDay = absl::Hours(24);

TEST(Limit, KeepsWhatItWasGiven) {
  const absl::StatusOr<Limit> limit =
      Limit::Create(10, absl::Milliseconds(600), 20);

  ASSERT_THAT(limit, IsOk());
  EXPECT_EQ(limit->tokens(), 10u);
  EXPECT_EQ(limit->burst(), 20u);
  EXPECT_EQ(limit->period_ns(), 600'000'000);
}

TEST(Limit, HasTheTokensAsItsBurstUnlessTold) {
  EXPECT_EQ(Limit::Create(10, absl::Seconds(1))->burst(), 10u);
}

TEST(Limit, IsOnePerSecondByDefault) {
  EXPECT_EQ(Limit(), *Limit::Create(1, absl::Seconds(1)));
}

TEST(Limit, TakesOneTo4294967295Tokens) {
  EXPECT_THAT(Limit::Create(0, absl::Seconds(1), 1),
              StatusIs(kInvalid, AllOf(StartsWith("tokens: got 0"),
                                       HasSubstr("want 1 to 4294967295"))));
  EXPECT_THAT(Limit::Create(1, absl::Seconds(1), 1), IsOk());
  EXPECT_THAT(Limit::Create(4294967295, absl::Seconds(1), 1), IsOk());
  EXPECT_THAT(Limit::Create(4294967296, absl::Seconds(1), 1),
              StatusIs(kInvalid, StartsWith("tokens: got 4294967296")));
}

TEST(Limit, RefusesTokensThatWouldWrapAround) {
  EXPECT_THAT(Limit::Create(UINT64_MAX, absl::Seconds(1)),
              StatusIs(kInvalid, StartsWith("tokens: ")));
  EXPECT_THAT(Limit::Create((uint64_t{1} << 32) + 1, absl::Seconds(1)),
              StatusIs(kInvalid, StartsWith("tokens: ")));
}

TEST(Limit, TakesABurstOfOneTo4294967295) {
  EXPECT_THAT(Limit::Create(1000, absl::Seconds(1), 0),
              StatusIs(kInvalid, AllOf(StartsWith("burst: got 0"),
                                       HasSubstr("want 1 to 4294967295"))));
  EXPECT_THAT(Limit::Create(1000, absl::Seconds(1), 1), IsOk());
  EXPECT_THAT(Limit::Create(1000, absl::Seconds(1), 4294967295), IsOk());
  EXPECT_THAT(Limit::Create(1000, absl::Seconds(1), 4294967296),
              StatusIs(kInvalid, StartsWith("burst: got 4294967296")));
}

TEST(Limit, TakesAPeriodOfOneNanosecondTo3650Days) {
  EXPECT_THAT(Limit::Create(1, absl::ZeroDuration()),
              StatusIs(kInvalid, AllOf(StartsWith("period: got 0"),
                                       HasSubstr("want whole nanoseconds"))));
  EXPECT_THAT(Limit::Create(1, -absl::Nanoseconds(1)),
              StatusIs(kInvalid, StartsWith("period: got -1ns")));
  EXPECT_THAT(Limit::Create(1, absl::Nanoseconds(1)), IsOk());
  EXPECT_THAT(Limit::Create(1, 3650 * kDay), IsOk());
  EXPECT_THAT(Limit::Create(1, 3650 * kDay + absl::Nanoseconds(1)),
              StatusIs(kInvalid, StartsWith("period: ")));
}

TEST(Limit, RefusesInfinitePeriods) {
  EXPECT_THAT(Limit::Create(1, absl::InfiniteDuration()),
              StatusIs(kInvalid, StartsWith("period: got inf")));
  EXPECT_THAT(Limit::Create(1, -absl::InfiniteDuration()),
              StatusIs(kInvalid, StartsWith("period: got -inf")));
}

TEST(Limit, RefusesAPartOfANanosecond) {
  EXPECT_THAT(Limit::Create(1, absl::Nanoseconds(1) / 2),
              StatusIs(kInvalid, StartsWith("period: ")));
  EXPECT_THAT(Limit::Create(1, absl::Nanoseconds(1) * 1.25),
              StatusIs(kInvalid, StartsWith("period: ")));
}

TEST(Limit, RefusesABurstThatTakesOver36500DaysToRefill) {
  EXPECT_THAT(Limit::Create(1, kDay, 36500), IsOk());
  EXPECT_THAT(Limit::Create(1, kDay, 36501),
              StatusIs(kInvalid, AllOf(StartsWith("burst: got 36501"),
                                       HasSubstr("36500 days"))));
  EXPECT_THAT(Limit::Create(1, 3650 * kDay, 10), IsOk());
  EXPECT_THAT(Limit::Create(1, 3650 * kDay, 11),
              StatusIs(kInvalid, StartsWith("burst: got 11")));
}

TEST(Limit, ComputesTheRefillOfTheLargestBurstWithoutOverflow) {
  // 2^32-1 times 3650 days is far over 64 bits.
  EXPECT_THAT(Limit::Create(4294967295, 3650 * kDay, 4294967295), IsOk());
  EXPECT_THAT(Limit::Create(1, 3650 * kDay, 4294967295),
              StatusIs(kInvalid, StartsWith("burst: got 4294967295")));
}

TEST(Limit, HasAShareRoundedDownOfOneTokenAtLeast) {
  const Limit limit = *Limit::Create(7, absl::Seconds(1), 9);

  EXPECT_EQ(*limit.Share(100), limit);
  EXPECT_EQ(*limit.Share(50), *Limit::Create(3, absl::Seconds(1), 4));
  EXPECT_EQ(*limit.Share(1), *Limit::Create(1, absl::Seconds(1), 1));
  EXPECT_EQ(*limit.Share(300), *Limit::Create(21, absl::Seconds(1), 27));
  EXPECT_EQ(*limit.WithHold(absl::Seconds(2))->Share(50),
            *Limit::Create(3, absl::Seconds(1), 4)->WithHold(absl::Seconds(2)));
}

TEST(Limit, HasNoShareThatWouldBeNoLimit) {
  const Limit most = *Limit::Create(4294967295, absl::Seconds(1));
  EXPECT_THAT(most.Share(100), IsOk());
  EXPECT_THAT(most.Share(101), StatusIs(kInvalid, StartsWith("tokens: got ")));
  // 199 tokens become 1 and the burst shrinks less, so it refills too slowly.
  const Limit slow = *Limit::Create(199, kDay, 36400 * 199);
  EXPECT_THAT(slow.Share(100), IsOk());
  EXPECT_THAT(slow.Share(1), StatusIs(kInvalid, StartsWith("burst: got ")));
}

TEST(Limit, IsEqualOnlyIfEveryPartIs) {
  const Limit limit = *Limit::Create(10, absl::Seconds(1), 20);

  EXPECT_EQ(limit, *Limit::Create(10, absl::Milliseconds(1000), 20));
  EXPECT_NE(limit, *Limit::Create(11, absl::Seconds(1), 20));
  EXPECT_NE(limit, *Limit::Create(10, absl::Seconds(2), 20));
  EXPECT_NE(limit, *Limit::Create(10, absl::Seconds(1), 21));
}

TEST(Limit, SaysItselfInShort) {
  EXPECT_EQ(Limit::Create(10, absl::Seconds(1))->ToString(), "10/1s");
  EXPECT_EQ(Limit::Create(10, absl::Seconds(1), 20)->ToString(),
            "10/1s burst 20");
  EXPECT_EQ(Limit::Create(1, absl::Milliseconds(600))->ToString(), "1/600ms");
}

// Against a division, where a reciprocal could be off by one.
TEST(Limit, CountsPeriodsAsADivisionRoundedUpDoes) {
  constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
  for (const int64_t period :
       {int64_t{1}, int64_t{2}, int64_t{3}, int64_t{999'999'937},
        int64_t{1'000'000'000}, int64_t{86'400'000'000'000},
        int64_t{3650} * 86'400'000'000'000}) {
    const Limit limit = *Limit::Create(1, absl::Nanoseconds(period));
    const auto p = static_cast<uint64_t>(period);
    for (const uint64_t n :
         {uint64_t{0}, uint64_t{1}, uint64_t{12345}, kMost / p}) {
      for (const uint64_t amount : {n * p, n * p + 1, n * p - 1, kMost - n}) {
        EXPECT_EQ(limit.PeriodsIn(amount),
                  amount / p + (amount % p != 0 ? 1 : 0))
            << amount << " / " << p;
      }
    }
  }
}

}  // namespace
}  // namespace tollgate
