// Threads take while others sweep without a pause: what is admitted must come
// out exactly, with and without room for every key. To be run under the thread
// sanitizer too.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "server/base/clock.h"
#include "tests/limiter/ask.h"
#include "tests/limiter/limits.h"
#include "tests/limiter/naive_model.h"

namespace tollgate {
namespace {

constexpr uint64_t kBurst = 5;
constexpr int kTakers = 4;

// 1 token in each microsecond.
Limit PerUserLimit() { return MakeLimit(1, absl::Microseconds(1), kBurst); }

// What the threads saw of one bucket in one round.
struct Seen {
  std::atomic<uint64_t> asked{0};
  std::atomic<uint64_t> admitted{0};
};

// Rounds of takes of one token at an instant that stands still, so that the
// order in which threads come does not matter, with time between the rounds
// for some buckets to fill. All the while a thread sweeps.
class Rounds {
 public:
  Rounds(size_t keys, size_t max_buckets, std::vector<Rule> rules)
      : own_(keys), models_(keys, NaiveBucket(PerUserLimit())) {
    LimiterOptions options;
    options.max_buckets = max_buckets;
    options.stripes = 4;
    limiter_.emplace(clock_, options);
    SetRules(*limiter_, std::move(rules));
    sweep_ = std::thread([this] {
      while (!done_) limiter_->Sweep(32);
    });
  }
  ~Rounds() {
    done_ = true;
    sweep_.join();
  }
  Rounds(const Rounds&) = delete;
  Rounds& operator=(const Rounds&) = delete;

  void Take(uint32_t round) {
    for (Seen& seen : own_) seen.asked = seen.admitted = 0;
    shared_.asked = shared_.admitted = 0;
    std::array<std::thread, kTakers> takers;
    for (uint32_t t = 0; t < kTakers; ++t) {
      takers[t] = std::thread([=, this] { TakeAtRandom(round * kTakers + t); });
    }
    for (std::thread& taker : takers) taker.join();
  }

  // Each bucket admitted what it had, as far as that was asked for.
  void ExpectAllAdmitted() {
    const int64_t now_ns = clock_.NowNs();
    for (size_t key = 0; key < own_.size(); ++key) {
      ASSERT_EQ(
          own_[key].admitted,
          std::min<uint64_t>(own_[key].asked, models_[key].Remaining(now_ns)))
          << key;
    }
    ASSERT_EQ(shared_.admitted,
              std::min<uint64_t>(shared_.asked, model_.Remaining(now_ns)));
  }

  // Each bucket has what it had less what it admitted.
  void ExpectTheRestIsLeft() {
    const int64_t now_ns = clock_.NowNs();
    for (size_t key = 0; key < own_.size(); ++key) {
      models_[key].Take(own_[key].admitted, now_ns);
    }
    model_.Take(shared_.admitted, now_ns);
    for (size_t key = 0; key < own_.size(); ++key) {
      const std::string user = std::to_string(key);
      const RuleStatus status =
          AskFor(*limiter_, {{"user", user}}, 0).statuses.at(0);
      const NaiveBucket& model = status.overflow ? model_ : models_[key];
      ASSERT_EQ(status.remaining, model.Remaining(now_ns)) << key;
    }
    overflowed_ += shared_.asked;
  }

  void Advance(int64_t ns) {
    clock_.Advance(ns);
    limiter_->Sweep(32);  // also where the sweeping thread gets no time
  }
  [[nodiscard]] const Limiter& limiter() const { return *limiter_; }
  [[nodiscard]] uint64_t overflowed() const { return overflowed_; }

 private:
  void TakeAtRandom(uint32_t seed) {
    std::mt19937 random(seed);
    for (int i = 0; i < 100; ++i) {
      // Every third on a few hot keys.
      const size_t key = random() % (i % 3 == 0 ? 4 : own_.size());
      const std::string user = std::to_string(key);
      const Decision decision = AskFor(*limiter_, {{"user", user}});
      Seen& seen = decision.statuses[0].overflow ? shared_ : own_[key];
      ++seen.asked;
      if (decision.allowed()) ++seen.admitted;
      if (limiter_->bucket_count() > limiter_->max_buckets()) std::abort();
    }
  }

  FakeClock clock_{kStart};
  std::optional<Limiter> limiter_;
  std::vector<Seen> own_;
  Seen shared_;
  std::vector<NaiveBucket> models_;    // of each key's own bucket
  NaiveBucket model_{PerUserLimit()};  // of the one that keys share
  uint64_t overflowed_ = 0;
  std::atomic<bool> done_{false};
  std::thread sweep_;
};

constexpr uint32_t kRounds = 60;

Rule PerUser() { return MakeRule("per-user", {"user"}, {PerUserLimit()}); }

TEST(ForgettingRace, AdmitsExactlyWhatEachBucketHas) {
  Rounds rounds(/*keys=*/60, /*max_buckets=*/1000, {PerUser()});
  std::mt19937 random(1);
  for (uint32_t round = 0; round < kRounds; ++round) {
    rounds.Take(round);
    ASSERT_NO_FATAL_FAILURE(rounds.ExpectAllAdmitted()) << "round " << round;
    ASSERT_NO_FATAL_FAILURE(rounds.ExpectTheRestIsLeft()) << "round " << round;
    rounds.Advance(random() % 8'000);
  }
  EXPECT_GT(rounds.limiter().swept_count(), 100u);
  EXPECT_EQ(rounds.overflowed(), 0u);
}

TEST(ForgettingRace, AdmitsExactlyWhatOwnAndSharedBucketsHaveAtTheCap) {
  Rounds rounds(/*keys=*/60, /*max_buckets=*/20, {PerUser()});
  std::mt19937 random(2);
  for (uint32_t round = 0; round < kRounds; ++round) {
    rounds.Take(round);
    ASSERT_NO_FATAL_FAILURE(rounds.ExpectAllAdmitted()) << "round " << round;
    ASSERT_NO_FATAL_FAILURE(rounds.ExpectTheRestIsLeft()) << "round " << round;
    rounds.Advance(random() % 8'000);
  }
  EXPECT_GT(rounds.limiter().swept_count(), 100u);
  EXPECT_GT(rounds.overflowed(), 100u);
}

TEST(ForgettingRace, GivesBackExactlyWhereASecondRuleRefuses) {
  // The second rule runs out in each round, so that takes of the first are
  // given back, to the bucket that they came from.
  for (const size_t max_buckets : {1000, 20}) {
    SCOPED_TRACE(max_buckets);
    Rounds rounds(/*keys=*/60, max_buckets,
                  {PerUser(), MakeRule("all", {},
                                       {MakeLimit(1, absl::Microseconds(1),
                                                  /*burst=*/30)})});
    std::mt19937 random(3);
    for (uint32_t round = 0; round < kRounds; ++round) {
      rounds.Take(round);
      ASSERT_NO_FATAL_FAILURE(rounds.ExpectTheRestIsLeft())
          << "round " << round;
      rounds.Advance(random() % 10'000);
    }
    EXPECT_GT(rounds.limiter().swept_count(), 100u);
    EXPECT_EQ(rounds.overflowed() > 0, max_buckets == 20);
  }
}

TEST(CapRace, EightThreadsMakeExactlyAsManyBucketsAsThereMayBe) {
  constexpr size_t kCap = 500;
  FakeClock clock(kStart);
  LimiterOptions options;
  options.max_buckets = kCap;
  options.stripes = 16;
  Limiter limiter(clock, options);
  SetRules(limiter, {MakeRule("per-user", {"user"}, {PerHour(3)})});
  std::atomic<uint64_t> own{0};
  std::atomic<uint64_t> shared{0};
  std::atomic<uint64_t> admitted{0};
  std::atomic<bool> too_many{false};

  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 500; ++i) {
        // Two threads ask for each key.
        const std::string user = std::to_string(t / 2 * 500 + i);
        const Decision decision = AskFor(limiter, {{"user", user}}, 3);
        ++(decision.statuses[0].overflow ? shared : own);
        if (decision.allowed()) admitted += 3;
        if (limiter.bucket_count() > kCap) too_many = true;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();

  EXPECT_FALSE(too_many);
  EXPECT_EQ(limiter.bucket_count(), kCap);
  EXPECT_EQ(own + shared, 4000u);
  // Each bucket once, and the shared one once.
  EXPECT_EQ(admitted, kCap * 3 + 3);
}

}  // namespace
}  // namespace tollgate
