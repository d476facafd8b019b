// What every algorithm tells another process of a bucket, and what it believes.
#include <algorithm>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "server/limiter/penalty.h"
#include "tests/limiter/limits.h"
#include "tests/limiter/one_bucket.h"
#include "tests/support/seeds.h"

namespace tollgate {
namespace {

constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kYear = 365 * 86400 * kSecond;

const Algorithm& AlgorithmOf(const std::string& name) {
  return name == "penalty" ? Penalty() : *FindAlgorithm(name);
}

// Ten in ten seconds, in a form that the algorithm takes.
Limit TenInTenSeconds(const std::string& name) {
  const Limit limit = MakeLimit(10, absl::Seconds(10));
  return name == "leaky_bucket" || name == "penalty"
             ? Holding(limit, absl::Seconds(3))
             : limit;
}

// The longest that any state of that limit makes one token wait.
int64_t LongestWait(const std::string& name) {
  if (name == "penalty") return 3 * kSecond;
  return name == "sliding_window" ? 20 * kSecond : 10 * kSecond;
}

// A bucket in another process, made of what `from` tells.
class Reborn {
 public:
  Reborn(const OneBucket& from, int64_t saved_at_ns, int64_t now_ns)
      : Reborn(from.algorithm(), from.limit()) {
    std::vector<int64_t> numbers;
    const BucketState state = from.state();
    algorithm_.Save(state, limit_, saved_at_ns, numbers);
    is_restored_ = Restore(numbers, saved_at_ns, now_ns);
  }
  Reborn(const Algorithm& algorithm, const Limit& limit)
      : algorithm_(algorithm), limit_(limit) {}
  ~Reborn() { algorithm_.Trim(state_, limit_, kMax); }
  Reborn(const Reborn&) = delete;
  Reborn& operator=(const Reborn&) = delete;

  bool Restore(const std::vector<int64_t>& numbers, int64_t saved_at_ns,
               int64_t now_ns) {
    return algorithm_.Restore(SavedState{numbers, saved_at_ns}, limit_, now_ns,
                              state_);
  }
  [[nodiscard]] bool is_restored() const { return is_restored_; }
  Verdict Take(uint64_t ticket, int64_t now_ns) {
    return algorithm_.Take(state_, limit_, Ask{1, 0, ticket}, now_ns);
  }
  [[nodiscard]] Verdict Peek(uint64_t cost, int64_t now_ns) const {
    return algorithm_.Peek(state_, limit_, Ask{cost, 0, 0}, now_ns);
  }
  void Refund(const Ask& ask, int64_t taken_at_ns, int64_t now_ns) {
    algorithm_.Refund(state_, limit_, ask, taken_at_ns, now_ns);
  }
  [[nodiscard]] bool IsForgettable(int64_t now_ns) {
    algorithm_.Trim(state_, limit_, now_ns);
    return algorithm_.IsForgettable(state_, limit_, now_ns);
  }
  // How many of cost 1 pass at that instant.
  uint64_t Drain(int64_t now_ns) {
    uint64_t count = 0;
    while (count < 1000 && Take(1000 + count, now_ns).allowed) ++count;
    return count;
  }

 private:
  const Algorithm& algorithm_;
  const Limit limit_;
  BucketState state_;
  bool is_restored_ = false;
};

class SavedStateOf : public testing::TestWithParam<const char*> {
 protected:
  static const Algorithm& algorithm() { return AlgorithmOf(GetParam()); }
  static Limit limit() { return TenInTenSeconds(GetParam()); }

  // Takes at random instants of some seconds. Returns the last of them.
  static int64_t TakeAtRandom(OneBucket& bucket, std::mt19937& random) {
    int64_t now_ns = kStart;
    for (int i = static_cast<int>(random() % 25); i > 0; --i) {
      now_ns += static_cast<int64_t>(random() % kSecond);
      bucket.Take(Ask{1 + random() % 3, 0, random()}, now_ns);
    }
    return now_ns;
  }
};

INSTANTIATE_TEST_SUITE_P(
    Named, SavedStateOf,
    testing::Values("token_bucket", "leaky_bucket", "fixed_window",
                    "sliding_window", "sliding_log", "concurrency", "penalty"),
    [](const auto& test) { return std::string(test.param); });

TEST_P(SavedStateOf, DecidesTheSameFromThenOn) {
  std::mt19937 random(SeedOf(kNewSeed));
  for (int round = 0; round < 500; ++round) {
    OneBucket bucket(algorithm(), limit());
    const int64_t saved_ns = TakeAtRandom(bucket, random);
    int64_t now_ns = saved_ns + static_cast<int64_t>(random() % 3) * kSecond;
    Reborn reborn(bucket, saved_ns, now_ns);
    ASSERT_TRUE(reborn.is_restored());
    for (int i = 0; i < 20; ++i) {
      now_ns += static_cast<int64_t>(random() % kSecond);
      const uint64_t cost = 1 + random() % 10;
      const Verdict want = bucket.Peek(cost, now_ns);
      const Verdict got = reborn.Peek(cost, now_ns);
      ASSERT_EQ(got.allowed, want.allowed);
      ASSERT_EQ(got.remaining, want.remaining);
      ASSERT_EQ(got.retry_after_ns, want.retry_after_ns);
      ASSERT_EQ(got.reset_after_ns, want.reset_after_ns);
      ASSERT_EQ(got.delay_ns, want.delay_ns);
      bucket.Take(1, now_ns);
      reborn.Take(0, now_ns);
    }
  }
}

TEST_P(SavedStateOf, IsFullAgainWhenItWouldHaveBeen) {
  OneBucket bucket(algorithm(), limit());
  bucket.Take(Ask{5, 0, 7}, kStart);
  const int64_t full_ns = kStart + bucket.Peek(1, kStart).reset_after_ns +
                          5 * kSecond * (std::string(GetParam()) == "penalty");
  Reborn before(bucket, kStart, full_ns - 1);
  Reborn at(bucket, kStart, full_ns);

  EXPECT_FALSE(before.IsForgettable(full_ns - 1));
  EXPECT_TRUE(at.IsForgettable(full_ns));
}

TEST_P(SavedStateOf, GetsNothingFromAClockThatWentBack) {
  std::mt19937 random(SeedOf(kNewSeed));
  for (const int64_t back_ns : {int64_t{1}, kSecond, 11 * kSecond, 50 * kYear,
                                kStart - 1, kStart + 100 * kSecond}) {
    for (int round = 0; round < 50; ++round) {
      OneBucket bucket(algorithm(), limit());
      const int64_t saved_ns = TakeAtRandom(bucket, random);
      const int64_t now_ns = std::max<int64_t>(1, saved_ns - back_ns);
      Reborn reborn(bucket, saved_ns, now_ns);
      ASSERT_TRUE(reborn.is_restored());
      EXPECT_LE(reborn.Peek(1, now_ns).remaining,
                bucket.Peek(1, saved_ns).remaining);
      reborn.Drain(now_ns);
      EXPECT_LE(reborn.Peek(1, now_ns).retry_after_ns, LongestWait(GetParam()));
    }
  }
}

TEST_P(SavedStateOf, IsUntouchedAfterYears) {
  OneBucket bucket(algorithm(), limit());
  bucket.Take(Ask{10, 0, 7}, kStart);
  Reborn reborn(bucket, kStart, kStart + 50 * kYear);

  EXPECT_TRUE(reborn.IsForgettable(kStart + 50 * kYear));
}

TEST_P(SavedStateOf, WhateverTheNumbersHoldsNoMoreThanTheLimit) {
  std::mt19937_64 random(SeedOf(kNewSeed));
  const int64_t odd[] = {kMin,    kMin + 1, -kYear, -kSecond, -1,      0,
                         1,       2,        10,     11,       kSecond, kYear,
                         1 << 30, kMax - 1, kMax,   -kStart,  kStart};
  Reborn untouched(algorithm(), limit());
  const uint64_t most = untouched.Drain(kStart);
  for (int round = 0; round < 20'000; ++round) {
    std::vector<int64_t> numbers(random() % 7);
    for (int64_t& number : numbers) {
      number = random() % 4 != 0 ? odd[random() % std::size(odd)]
                                 : static_cast<int64_t>(random());
    }
    const int64_t saved_ns = odd[random() % std::size(odd)];
    Reborn reborn(algorithm(), limit());
    if (!reborn.Restore(numbers, saved_ns, kStart)) continue;
    const Verdict verdict = reborn.Peek(1, kStart);
    ASSERT_LE(verdict.remaining, 10u);
    ASSERT_LE(verdict.retry_after_ns, LongestWait(GetParam()));
    ASSERT_GE(verdict.retry_after_ns, 0);
    ASSERT_LE(verdict.reset_after_ns, 20 * kSecond);
    ASSERT_GE(verdict.reset_after_ns, 0);
    ASSERT_LE(reborn.Drain(kStart), most);
  }
}

TEST_P(SavedStateOf, RefusesACountThatNoStateHas) {
  Reborn reborn(algorithm(), limit());
  EXPECT_FALSE(reborn.Restore(std::vector<int64_t>(5, 1), kStart, kStart));
  EXPECT_FALSE(reborn.Restore(std::vector<int64_t>(70'001, 1), kStart, kStart));
}

TEST(SavedStateOfConcurrency, LetsATicketBeReleased) {
  OneBucket bucket(AlgorithmOf("concurrency"), TenInTenSeconds("concurrency"));
  const uint64_t ticket = 0xFFFF'FFFF'FFFF'FFFF;
  bucket.Take(Ask{10, 0, ticket}, kStart);
  Reborn reborn(bucket, kStart, kStart + 1);

  EXPECT_FALSE(reborn.Take(1, kStart + 1).allowed);
  reborn.Refund(Ask{1, 0, 1}, kStart, kStart + 1);  // of somebody else
  EXPECT_FALSE(reborn.Take(1, kStart + 1).allowed);
  reborn.Refund(Ask{1, 0, ticket}, kStart, kStart + 1);
  EXPECT_EQ(reborn.Drain(kStart + 1), 10u);
}

TEST(SavedStateOfConcurrency, HoldsWhatALowerLimitFoundHeld) {
  Reborn reborn(AlgorithmOf("concurrency"), TenInTenSeconds("concurrency"));
  ASSERT_TRUE(
      reborn.Restore({1, 8, kSecond, 2, 7, 2 * kSecond}, kStart, kStart));

  EXPECT_EQ(reborn.Peek(3, kStart).retry_after_ns, kSecond);
  EXPECT_EQ(reborn.Peek(4, kStart).retry_after_ns, 2 * kSecond);
}

TEST(SavedStateOfPenalty, StaysBlockedUntilTheBlockEnds) {
  OneBucket bucket(Penalty(), TenInTenSeconds("penalty"));
  for (int i = 0; i < 11; ++i) bucket.Take(1, kStart);
  ASSERT_FALSE(bucket.Peek(1, kStart).allowed);
  Reborn reborn(bucket, kStart, kStart + kSecond);

  EXPECT_EQ(reborn.Peek(1, kStart + kSecond).retry_after_ns, 2 * kSecond);
  EXPECT_TRUE(reborn.Peek(1, kStart + 3 * kSecond).allowed);
}

TEST(SavedStateOfFixedWindow, CountsIntoTheWindowThatRuns) {
  OneBucket bucket(AlgorithmOf("fixed_window"),
                   TenInTenSeconds("fixed_window"));
  bucket.Take(10, kStart);  // a window that began a nanosecond before
  const int64_t now_ns = kStart - 4 * kSecond;
  Reborn reborn(bucket, kStart, now_ns);

  EXPECT_EQ(reborn.Peek(1, now_ns).retry_after_ns, 4 * kSecond - 1);
}

}  // namespace
}  // namespace tollgate
