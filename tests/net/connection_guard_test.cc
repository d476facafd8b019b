#include "server/net/connection_guard.h"

#include <cstdint>

#include "gtest/gtest.h"
#include "server/net/stall_watch.h"

namespace tollgate::net {
namespace {

constexpr int64_t kMs = 1'000'000;
constexpr GuardLimits kFlood{.unaccounted_bytes = 1000};
constexpr GuardLimits kSlow{.slow_reader = absl::Seconds(10)};

TEST(ConnectionGuard, KeepsWhoSendsNoMoreThanCallsAccountForAndTheLimit) {
  ConnectionGuard guard(/*credit=*/500);
  EXPECT_EQ(guard.Look({.read = 1000}, 500, 0, kFlood), Verdict::kKeep);
  EXPECT_EQ(guard.Look({.read = 1001}, 500, 1, kFlood), Verdict::kLookAgain);
  EXPECT_EQ(guard.Look({.read = 1001}, 501, 2, kFlood), Verdict::kKeep);
}

TEST(ConnectionGuard, CutsWhoStaysOverTheLimitForItsPatience) {
  ConnectionGuard guard(0);
  EXPECT_EQ(guard.Look({.read = 1001}, 0, 5 * kMs, kFlood),
            Verdict::kLookAgain);
  EXPECT_EQ(guard.Look({.read = 1001}, 0, 20 * kMs - 1, kFlood),
            Verdict::kLookAgain);
  EXPECT_EQ(guard.Look({.read = 1001}, 0, 20 * kMs, kFlood), Verdict::kFlood);
}

TEST(ConnectionGuard, BeginsItsPatienceAnewOnceCallsHavePaid) {
  ConnectionGuard guard(0);
  EXPECT_EQ(guard.Look({.read = 1001}, 0, 0, kFlood), Verdict::kLookAgain);
  EXPECT_EQ(guard.Look({.read = 1001}, 1, 14 * kMs, kFlood), Verdict::kKeep);
  EXPECT_EQ(guard.Look({.read = 1002}, 1, 16 * kMs, kFlood),
            Verdict::kLookAgain);
}

TEST(ConnectionGuard, LetsNobodySaveUp) {
  ConnectionGuard guard(0);
  EXPECT_EQ(guard.Look({.read = 100}, 1'000'000, 0, kFlood), Verdict::kKeep);
  EXPECT_EQ(guard.Look({.read = 1101}, 1'000'000, 20 * kMs, kFlood),
            Verdict::kLookAgain);
  EXPECT_EQ(guard.Look({.read = 1101}, 1'000'000, 40 * kMs, kFlood),
            Verdict::kFlood);
}

TEST(ConnectionGuard, AllowsLessBeforeCallsHaveBegunAndMoreByWhatTheyPay) {
  constexpr GuardLimits kRising{.unaccounted_bytes = 1000,
                                .unproven_bytes = 300};
  ConnectionGuard guard(/*credit=*/500);
  EXPECT_EQ(guard.Look({.read = 300}, 500, 0, kRising), Verdict::kKeep);
  EXPECT_EQ(guard.Look({.read = 301}, 500, 1, kRising), Verdict::kLookAgain);
  // It paid 400, so 700 are allowed.
  EXPECT_EQ(guard.Look({.read = 301}, 900, 2, kRising), Verdict::kKeep);
  EXPECT_EQ(guard.Look({.read = 1001}, 900, 3, kRising), Verdict::kKeep);
  EXPECT_EQ(guard.Look({.read = 1002}, 900, 4, kRising), Verdict::kLookAgain);
  // However much it paid, 1000 are the most.
  EXPECT_EQ(guard.Look({.read = 1002}, 9000, 5, kRising), Verdict::kKeep);
  EXPECT_EQ(guard.Look({.read = 2002}, 9000, 6, kRising), Verdict::kKeep);
  EXPECT_EQ(guard.Look({.read = 2003}, 9000, 7, kRising), Verdict::kLookAgain);
}

TEST(ConnectionGuard, MayStallIfItOwesAndSendsFasterThanItIsRead) {
  constexpr GuardLimits kStall{.stalling_bytes = 1000};
  ConnectionGuard guard(0);
  const auto may_stall = [&guard](const TcpSample& sample, uint64_t credit,
                                  const GuardLimits& limits) {
    EXPECT_EQ(guard.Look(sample, credit, 0, limits), Verdict::kKeep);
    return guard.may_stall();
  };
  EXPECT_FALSE(may_stall({.read = 1000, .unread = 1}, 0, kStall));
  EXPECT_FALSE(may_stall({.read = 1001, .unread = 0}, 0, kStall));
  EXPECT_TRUE(may_stall({.read = 1001, .unread = 1}, 0, kStall));
  EXPECT_FALSE(may_stall({.read = 1001, .unread = 1}, 0, {}));
  EXPECT_FALSE(guard.calls_began());
  EXPECT_FALSE(may_stall({.read = 1001, .unread = 1}, 1, kStall));
  EXPECT_TRUE(guard.calls_began());
}

TEST(StallWatch, SaysSoOnceNoCallBeganForAllItsRounds) {
  StallWatch watch;
  for (int i = 1; i < StallWatch::kRounds; ++i) {
    watch.EndRound(/*calls_began=*/false, /*may_stall=*/true);
    EXPECT_FALSE(watch.stalled());
  }
  watch.EndRound(false, true);
  EXPECT_TRUE(watch.stalled());
  watch.EndRound(false, true);
  EXPECT_TRUE(watch.stalled());
}

TEST(StallWatch, BeginsAnewWithEachCallAndWhenNobodyMayStall) {
  StallWatch watch;
  for (int i = 0; i < 10 * StallWatch::kRounds; ++i) {
    watch.EndRound(/*calls_began=*/i % StallWatch::kRounds == 0,
                   /*may_stall=*/true);
    EXPECT_FALSE(watch.stalled());
  }
  for (int i = 0; i < 10 * StallWatch::kRounds; ++i) {
    watch.EndRound(false, /*may_stall=*/i % StallWatch::kRounds != 0);
    EXPECT_FALSE(watch.stalled());
  }
}

TEST(ConnectionGuard, TakesNoHarmFromACountThatSeemsToFall) {
  ConnectionGuard guard(0);
  EXPECT_EQ(guard.Look({.read = 900}, 0, 0, kFlood), Verdict::kKeep);
  EXPECT_EQ(guard.Look({.read = 800}, 0, 20 * kMs, kFlood), Verdict::kKeep);
  EXPECT_EQ(guard.Look({.read = 1000}, 0, 40 * kMs, kFlood), Verdict::kKeep);
}

TEST(ConnectionGuard, CutsNobodyWithoutLimits) {
  ConnectionGuard guard(0);
  for (int64_t i = 1; i < 100; ++i) {
    EXPECT_EQ(guard.Look({.read = static_cast<uint64_t>(i) << 40, .pending = 9},
                         0, i * 1000 * kMs, {}),
              Verdict::kKeep);
  }
}

TEST(ConnectionGuard, CutsWhoTakesNothingForTheWholeTime) {
  ConnectionGuard guard(0);
  EXPECT_EQ(guard.Look({.acked = 5, .pending = 10}, 0, 0, kSlow),
            Verdict::kKeep);
  EXPECT_EQ(guard.Look({.acked = 5, .pending = 99}, 0, 9'999 * kMs, kSlow),
            Verdict::kKeep);
  EXPECT_EQ(guard.Look({.acked = 14, .pending = 99}, 0, 10'000 * kMs, kSlow),
            Verdict::kSlowReader);
}

TEST(ConnectionGuard, KeepsWhoTookWhatWaitedHoweverLittle) {
  ConnectionGuard guard(0);
  uint64_t acked = 0;
  for (int64_t i = 0; i < 60; ++i, acked += 10) {
    EXPECT_EQ(
        guard.Look({.acked = acked, .pending = 10}, 0, i * 1000 * kMs, kSlow),
        Verdict::kKeep);
  }
}

TEST(ConnectionGuard, KeepsWhoTakesMuchOfEvenMore) {
  ConnectionGuard guard(0);
  constexpr uint64_t kMuch = uint64_t{1} << 30;
  uint64_t acked = 0;
  for (int64_t i = 0; i < 60; ++i, acked += kMinDrainBytes) {
    EXPECT_EQ(guard.Look({.acked = acked, .pending = kMuch}, 0, i * 1000 * kMs,
                         kSlow),
              Verdict::kKeep);
  }
}

TEST(ConnectionGuard, CutsWhoTakesLessThanThat) {
  ConnectionGuard guard(0);
  constexpr uint64_t kMuch = uint64_t{1} << 30;
  EXPECT_EQ(guard.Look({.pending = kMuch}, 0, 0, kSlow), Verdict::kKeep);
  EXPECT_EQ(guard.Look({.acked = 10 * kMinDrainBytes - 1, .pending = kMuch}, 0,
                       10'000 * kMs, kSlow),
            Verdict::kSlowReader);
}

}  // namespace
}  // namespace tollgate::net
