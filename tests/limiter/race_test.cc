// Threads on the same buckets, with counts that must come out exactly. To be
// run under the thread sanitizer too.
#include <atomic>
#include <functional>
#include <latch>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "server/base/clock.h"
#include "server/limiter/limiter.h"
#include "tests/limiter/ask.h"
#include "tests/limiter/limits.h"

namespace tollgate {
namespace {

// Runs `work` on that many threads at once, each with its number.
void OnThreads(int count, const std::function<void(int)>& work) {
  std::latch start(count);
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      start.arrive_and_wait();
      work(i);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(LimiterRace, SixteenThreadsAtOneInstantTakeExactlyTheLimit) {
  FakeClock clock(kStart);
  Limiter limiter(clock);
  SetRules(limiter, {MakeRule("all", {}, {PerSecond(10'000)})});
  std::atomic<int> allowed{0};

  OnThreads(16, [&](int) {
    for (int i = 0; i < 1000; ++i) {
      if (Ask(limiter, {{"user", "ana"}}).allowed()) ++allowed;
    }
  });

  EXPECT_EQ(allowed, 10'000);
  EXPECT_EQ(Remaining(limiter, {{"user", "ana"}}), 0u);
}

TEST(LimiterRace, SixteenThreadsCreateOneBucketOnce) {
  FakeClock clock(kStart);
  Limiter limiter(clock);
  SetRules(limiter, {MakeRule("per-user", {"user"}, {PerSecond(7)})});
  std::atomic<int> allowed{0};

  OnThreads(16, [&](int) {
    for (int key = 0; key < 300; ++key) {
      const std::string user = std::to_string(key);
      if (Ask(limiter, {{"user", user}}).allowed()) ++allowed;
    }
  });

  EXPECT_EQ(allowed, 300 * 7);
  EXPECT_EQ(limiter.bucket_count(), 300u);
}

TEST(LimiterRace, ThreeRulesWithRefundsConserveEveryToken) {
  FakeClock clock(kStart);
  Limiter limiter(clock);
  // Whichever runs out first, the others must get back what they gave.
  SetRules(limiter, {MakeRule("pair", {"user", "path"}, {PerHour(700)}),
                     MakeRule("user", {"user"}, {PerHour(1500)}),
                     MakeRule("all", {}, {PerHour(5000)})});
  std::atomic<uint64_t> by_pair[4][4] = {};

  OnThreads(16, [&](int thread) {
    std::mt19937 random(static_cast<uint32_t>(thread));
    for (int i = 0; i < 500; ++i) {
      const uint32_t u = random() % 4;
      const uint32_t p = random() % 4;
      const uint64_t cost = 1 + random() % 5;
      const std::string user = std::to_string(u);
      const std::string path = std::to_string(p);
      if (Ask(limiter, {{"user", user}, {"path", path}}, cost).allowed()) {
        by_pair[u][p] += cost;
      }
    }
  });

  uint64_t total = 0;
  for (int u = 0; u < 4; ++u) {
    uint64_t by_user = 0;
    for (int p = 0; p < 4; ++p) by_user += by_pair[u][p];
    total += by_user;
    for (int p = 0; p < 4; ++p) {
      const std::string user = std::to_string(u);
      const std::string path = std::to_string(p);
      const Decision peek =
          Ask(limiter, {{"user", user}, {"path", path}}, /*cost=*/0);
      EXPECT_EQ(peek.statuses.at(0).remaining, 700 - by_pair[u][p]);
      EXPECT_EQ(peek.statuses.at(1).remaining, 1500 - by_user);
    }
  }
  EXPECT_EQ(Ask(limiter, {{"x", "y"}}, 0).statuses.at(0).remaining,
            5000 - total);
  EXPECT_GT(total, 4000u);  // it did run against the limits
}

TEST(LimiterRace, PeeksBetweenTakesChangeNothing) {
  FakeClock clock(kStart);
  Limiter limiter(clock);
  SetRules(limiter, {MakeRule("all", {}, {PerSecond(2'000)})});
  std::atomic<int> allowed{0};

  OnThreads(16, [&](int thread) {
    for (int i = 0; i < 400; ++i) {
      const bool peek = thread % 2 == 0;
      const Decision decision = Ask(limiter, {{"user", "ana"}}, peek ? 0 : 1);
      if (!peek && decision.allowed()) ++allowed;
    }
  });

  EXPECT_EQ(allowed, 2'000);
}

// Four threads take and move time on, while two sweep without a pause.
class SweepRace {
 public:
  SweepRace(const Limit& limit, int keys) : taken_(keys) {
    LimiterOptions options;
    options.stripes = 2;
    limiter_.emplace(clock_, options);
    SetRules(*limiter_, {MakeRule("per-user", {"user"}, {limit})});
  }

  // Each takes that often, and on until the sweep has forgotten `forgotten`.
  void Run(int takes_each, int64_t step_ns, uint64_t forgotten) {
    std::atomic<int> takers{4};
    OnThreads(6, [&](int thread) {
      if (thread < 4) {
        TakeAtRandom(thread, takes_each, step_ns, forgotten);
        --takers;
      } else {
        while (takers > 0) limiter_->Sweep(64);
      }
    });
  }

  bool Take(int key, uint64_t cost) {
    const std::string user = std::to_string(key);
    if (!Ask(*limiter_, {{"user", user}}, cost).allowed()) return false;
    taken_[key] += cost;
    return true;
  }
  uint64_t Left(int key) {
    const std::string user = std::to_string(key);
    return Remaining(*limiter_, {{"user", user}});
  }
  [[nodiscard]] uint64_t taken(int key) const { return taken_[key]; }
  [[nodiscard]] int64_t elapsed_ns() const { return clock_.NowNs() - kStart; }
  [[nodiscard]] const Limiter& limiter() const { return *limiter_; }
  [[nodiscard]] int keys() const { return static_cast<int>(taken_.size()); }

 private:
  void TakeAtRandom(int thread, int takes, int64_t step_ns,
                    uint64_t forgotten) {
    std::mt19937 random(static_cast<uint32_t>(thread));
    for (int i = 0; i < takes || limiter_->swept_count() < forgotten; ++i) {
      // Every other on one hot key.
      const size_t key = random() % 2 == 0 ? 0 : random() % taken_.size();
      Take(static_cast<int>(key), 1 + random() % 2);
      clock_.Advance(step_ns);
    }
  }

  FakeClock clock_{kStart};
  std::optional<Limiter> limiter_;
  std::vector<std::atomic<uint64_t>> taken_;
};

TEST(LimiterRace, ForgettingNeverGrantsMoreThanBurstPlusRateTimesTime) {
  // A bucket is full again after 1 us, so most are forgotten between takes.
  SweepRace race(MakeLimit(5, absl::Microseconds(1)), /*keys=*/64);

  race.Run(/*takes_each=*/10'000, /*step_ns=*/50, /*forgotten=*/1'000);

  for (int key = 0; key < race.keys(); ++key) {
    EXPECT_LE(race.taken(key) * 1000,
              5 * 1000 + 5 * static_cast<uint64_t>(race.elapsed_ns()))
        << key;
  }
}

TEST(LimiterRace, ASweepLosesNoTokenThatIsSpent) {
  // Half is spent at first and too little refills to make a bucket full, so
  // what is left must come out exactly.
  constexpr uint64_t kBurst = 1'000'000;
  SweepRace race(MakeLimit(1, absl::Microseconds(1), kBurst), /*keys=*/8);
  for (int key = 0; key < race.keys(); ++key) {
    ASSERT_TRUE(race.Take(key, kBurst / 2));
  }

  race.Run(/*takes_each=*/5'000, /*step_ns=*/70, /*forgotten=*/0);

  const auto refilled = static_cast<uint64_t>(race.elapsed_ns()) / 1000;
  ASSERT_LT(refilled, kBurst / 2);
  for (int key = 0; key < race.keys(); ++key) {
    EXPECT_EQ(race.Left(key), kBurst - race.taken(key) + refilled) << key;
  }
  EXPECT_EQ(race.limiter().swept_count(), 0u);
}

TEST(LimiterRace, RulesReplacedUnderTrafficGrantNothing) {
  FakeClock clock(kStart);
  Limiter limiter(clock);
  const auto rules = [](uint64_t tokens) {
    return std::vector<Rule>{
        MakeRule("per-user", {"user"}, {PerHour(tokens, 500)})};
  };
  SetRules(limiter, rules(100));
  std::atomic<uint64_t> allowed{0};
  std::atomic<int> takers{4};

  OnThreads(5, [&](int thread) {
    if (thread < 4) {
      for (int i = 0; i < 3000; ++i) {
        const Decision decision = Ask(limiter, {{"user", "ana"}});
        if (decision.allowed()) ++allowed;
        EXPECT_EQ(decision.statuses.size(), 1u);
      }
      --takers;
    } else {
      for (uint64_t tokens = 100; takers > 0; tokens = 300 - tokens) {
        SetRules(limiter, rules(tokens));
      }
    }
  });

  EXPECT_EQ(allowed, 500u);
  SetRules(limiter, rules(123));
  EXPECT_EQ(Remaining(limiter, {{"user", "ana"}}), 0u);
}

TEST(LimiterRace, RulesThatComeAndGoUnderTrafficLoseNothing) {
  FakeClock clock(kStart);
  Limiter limiter(clock);
  const Rule always = MakeRule("always", {}, {PerHour(20'000)});
  const Rule at_times = MakeRule("at-times", {"user"}, {PerHour(300)});
  SetRules(limiter, {always, at_times});
  std::atomic<uint64_t> allowed{0};
  std::atomic<int> takers{4};

  OnThreads(5, [&](int thread) {
    if (thread < 4) {
      for (int i = 0; i < 2000; ++i) {
        if (Ask(limiter, {{"user", "ana"}}).allowed()) ++allowed;
      }
      --takers;
    } else {
      for (int i = 0; takers > 0; ++i) {
        SetRules(limiter, i % 2 == 0 ? std::vector<Rule>{at_times, always}
                                     : std::vector<Rule>{always});
      }
    }
  });

  SetRules(limiter, {always});
  EXPECT_EQ(Remaining(limiter, {{"user", "ana"}}), 20'000 - allowed);
}

}  // namespace
}  // namespace tollgate
