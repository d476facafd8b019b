#include "server/limiter/sliding_window.h"

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/limiter/limits.h"
#include "tests/limiter/one_bucket.h"
#include "tests/support/seeds.h"
#include "tests/support/status_matchers.h"

namespace tollgate {
namespace {

using ::testing::HasSubstr;

// 2023-11-14 22:13:20 UTC, the start of ten seconds.
constexpr int64_t kEdge = 1'700'000'000 * kSecond;
constexpr int64_t kPeriod = 10 * kSecond;

Limit Ten() { return MakeLimit(10, absl::Seconds(10)); }

TEST(SlidingWindow, WeighsThePreviousWindowByItsOverlap) {
  OneBucket bucket(SlidingWindow(), Ten());
  ASSERT_TRUE(bucket.Take(10, kEdge + kSecond).allowed);

  // One of ten is over with each second of the next window.
  EXPECT_EQ(bucket.Remaining(kEdge + kPeriod), 0u);
  EXPECT_EQ(bucket.Remaining(kEdge + kPeriod + kSecond - 1), 0u);
  EXPECT_EQ(bucket.Remaining(kEdge + kPeriod + kSecond), 1u);
  EXPECT_EQ(bucket.Remaining(kEdge + kPeriod + 9 * kSecond - 1), 8u);
  EXPECT_EQ(bucket.Remaining(kEdge + kPeriod + 9 * kSecond), 9u);
  EXPECT_EQ(bucket.Remaining(kEdge + 2 * kPeriod - 1), 9u);
  EXPECT_EQ(bucket.Remaining(kEdge + 2 * kPeriod), 10u);
}

TEST(SlidingWindow, RoundsTheWeightAgainstAdmission) {
  OneBucket bucket(SlidingWindow(), MakeLimit(3, absl::Nanoseconds(7)));
  ASSERT_TRUE(bucket.Take(3, 0).allowed);

  // 3 * (7 - e) / 7, rounded up: 3 3 3 2 2 1 1.
  const uint64_t left[] = {0, 0, 0, 1, 1, 2, 2, 3};
  for (int64_t e = 0; e < 8; ++e) {
    EXPECT_EQ(bucket.Remaining(7 + e), left[e]) << e;
  }
}

TEST(SlidingWindow, TheWaitMayEndInThisWindowAtItsEndOrInTheNext) {
  OneBucket bucket(SlidingWindow(), Ten());
  ASSERT_TRUE(bucket.Take(6, kEdge).allowed);
  const int64_t now = kEdge + kPeriod;
  ASSERT_TRUE(bucket.Take(4, now).allowed);

  // 6 weigh 5 after 1 2/3 s, rounded up, and nothing at the end.
  EXPECT_EQ(bucket.Peek(1, now).retry_after_ns, 1'666'666'667);
  EXPECT_EQ(bucket.Peek(5, now).retry_after_ns, 8'333'333'334);
  EXPECT_EQ(bucket.Peek(6, now).retry_after_ns, kPeriod);
  // The 4 of this window weigh 3 a quarter into the next.
  EXPECT_EQ(bucket.Peek(7, now).retry_after_ns, kPeriod + kPeriod / 4);
  EXPECT_EQ(bucket.Peek(10, now).retry_after_ns, 2 * kPeriod);
  for (const uint64_t cost : {1, 5, 6, 7, 10}) {
    const int64_t then = now + bucket.Peek(cost, now).retry_after_ns;
    EXPECT_FALSE(bucket.Peek(cost, then - 1).allowed) << cost;
    EXPECT_TRUE(bucket.Peek(cost, then).allowed) << cost;
  }
}

TEST(SlidingWindow, ForgetsAfterTwoEdges) {
  OneBucket bucket(SlidingWindow(), Ten());
  ASSERT_TRUE(bucket.Take(10, kEdge + 3 * kSecond).allowed);

  EXPECT_FALSE(bucket.IsForgettable(kEdge + 2 * kPeriod - 1));
  EXPECT_TRUE(bucket.IsForgettable(kEdge + 2 * kPeriod));
}

TEST(SlidingWindow, ARefundGoesToTheWindowOfItsTake) {
  OneBucket bucket(SlidingWindow(), Ten());
  ASSERT_TRUE(bucket.Take(8, kEdge).allowed);
  const int64_t now = kEdge + kPeriod + kPeriod / 2;
  ASSERT_TRUE(bucket.Take(2, now).allowed);
  ASSERT_EQ(bucket.Remaining(now), 4u);  // 2 and half of 8 are spent

  bucket.Refund(4, kEdge, now);
  EXPECT_EQ(bucket.Remaining(now), 6u);
  bucket.Refund(1, now, now);
  EXPECT_EQ(bucket.Remaining(now), 7u);
  bucket.Refund(4, kEdge - 1, now);  // two windows ago
  EXPECT_EQ(bucket.Remaining(now), 7u);
}

TEST(SlidingWindow, HasNeitherBurstNorMaxDelay) {
  EXPECT_THAT(SlidingWindow().Validate(Ten()), IsOk());
  EXPECT_THAT(SlidingWindow().Validate(PerSecond(10, 20)),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("got a burst of 20, which sliding_window")));
  EXPECT_THAT(
      SlidingWindow().Validate(Holding(PerSecond(10), absl::Seconds(1))),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("max_delay")));
}

// The most that was admitted in any [t, t + period).
class WindowMaximum {
 public:
  explicit WindowMaximum(int64_t period_ns) : period_ns_(period_ns) {}

  void Add(int64_t at_ns, uint64_t cost) {
    admissions_.emplace_back(at_ns, cost);
    sum_ += cost;
    while (admissions_[first_].first <= at_ns - period_ns_) {
      sum_ -= admissions_[first_++].second;
    }
    most_ = std::max(most_, sum_);
  }
  [[nodiscard]] uint64_t most() const { return most_; }

 private:
  const int64_t period_ns_;
  std::vector<std::pair<int64_t, uint64_t>> admissions_;
  size_t first_ = 0;
  uint64_t sum_ = 0;
  uint64_t most_ = 0;
};

// Tries every way to take at every nanosecond of three windows.
class Exhaustive {
 public:
  explicit Exhaustive(const Limit& limit) : limit_(limit) {}

  uint64_t Search() {
    std::vector<uint64_t> taken;
    Visit(BucketState(), taken);
    return most_;
  }

 private:
  void Visit(const BucketState& state, std::vector<uint64_t>& taken) {
    const auto now_ns = static_cast<int64_t>(taken.size());
    if (now_ns == 3 * limit_.period_ns()) return;
    for (uint64_t cost = 0; cost <= limit_.tokens(); ++cost) {
      BucketState next = state;
      if (cost > 0 && !SlidingWindow()
                           .Take(next, limit_, Ask{cost, 0, 0}, now_ns)
                           .allowed) {
        break;
      }
      taken.push_back(cost);
      uint64_t sum = 0;
      for (int64_t i = 0; i < limit_.period_ns() && i <= now_ns; ++i) {
        sum += taken[static_cast<size_t>(now_ns - i)];
      }
      most_ = std::max(most_, sum);
      Visit(next, taken);
      taken.pop_back();
    }
  }

  const Limit limit_;
  uint64_t most_ = 0;
};

// In a window of one period at most 2R - 2R/P (rounded up, P in nanoseconds)
// pass: R just before an edge, and as the weight of those sinks, all but what
// they still weigh two nanoseconds before the next edge. So 2R - 1 for every
// period that is not tiny: worse than sliding_log, which lets R pass, but
// spread over the period, where fixed_window lets 2R pass at once.
TEST(SlidingWindowWorstCase, IsTwiceTheLimitLessOneInEveryPatternThereIs) {
  for (const auto& [tokens, period] :
       {std::pair<uint64_t, int64_t>{1, 3}, {1, 5}, {2, 3}, {2, 4}, {3, 3}}) {
    const uint64_t share = (2 * tokens + static_cast<uint64_t>(period) - 1) /
                           static_cast<uint64_t>(period);
    EXPECT_EQ(Exhaustive(MakeLimit(tokens, absl::Nanoseconds(period))).Search(),
              2 * tokens - share)
        << tokens << " per " << period << " ns";
  }
}

TEST(SlidingWindowWorstCase, IsReachedAndNotPassedByRandomAttacks) {
  const uint32_t seed = SeedOf(kNewSeed);
  SCOPED_TRACE(testing::Message() << "TOLLGATE_SEED=" << seed);
  std::mt19937_64 random(seed);
  uint64_t most = 0;
  for (int attack = 0; attack < 2'000; ++attack) {
    OneBucket bucket(SlidingWindow(), Ten());
    WindowMaximum maximum(kPeriod);
    int64_t now = kEdge;
    while (now < kEdge + 4 * kPeriod) {
      // As much as there is, or one, at an edge or anywhere.
      const uint64_t left = bucket.Remaining(now);
      const uint64_t cost =
          random() % 2 == 0 ? left : std::min<uint64_t>(left, 1);
      if (cost > 0) {
        ASSERT_TRUE(bucket.Take(cost, now).allowed);
        maximum.Add(now, cost);
      }
      const int64_t next_edge = now - now % kPeriod + kPeriod;
      const auto jump = static_cast<int64_t>(
          random() % static_cast<uint64_t>(3 * kSecond) + 1);
      now = random() % 3 > 0 ? now + jump
            : now + 2 < next_edge
                ? next_edge - 1 - static_cast<int64_t>(random() % 2)
                : next_edge;
    }
    most = std::max(most, maximum.most());
  }
  EXPECT_LE(most, 19u);

  // The attack that does it.
  OneBucket bucket(SlidingWindow(), Ten());
  WindowMaximum maximum(kPeriod);
  ASSERT_TRUE(bucket.Take(10, kEdge + kPeriod - 1).allowed);
  maximum.Add(kEdge + kPeriod - 1, 10);
  ASSERT_TRUE(bucket.Take(9, kEdge + 2 * kPeriod - 2).allowed);
  maximum.Add(kEdge + 2 * kPeriod - 2, 9);
  EXPECT_EQ(maximum.most(), 19u);
  RecordProperty("most_of_10", static_cast<int>(most));
}

}  // namespace
}  // namespace tollgate
