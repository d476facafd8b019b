#include "server/net/connection_guard.h"

#include <cstdint>

#include "gtest/gtest.h"

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
