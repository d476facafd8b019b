// Threads on the same buckets, with counts that must come out exactly. To be
// run under the thread sanitizer too.
#include <algorithm>
#include <atomic>
#include <functional>
#include <latch>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
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
      if (AskFor(limiter, {{"user", "ana"}}).allowed()) ++allowed;
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
      if (AskFor(limiter, {{"user", user}}).allowed()) ++allowed;
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
      if (AskFor(limiter, {{"user", user}, {"path", path}}, cost).allowed()) {
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
          AskFor(limiter, {{"user", user}, {"path", path}}, /*cost=*/0);
      EXPECT_EQ(peek.statuses.at(0).remaining, 700 - by_pair[u][p]);
      EXPECT_EQ(peek.statuses.at(1).remaining, 1500 - by_user);
    }
  }
  EXPECT_EQ(AskFor(limiter, {{"x", "y"}}, 0).statuses.at(0).remaining,
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
      const Decision decision =
          AskFor(limiter, {{"user", "ana"}}, peek ? 0 : 1);
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
    if (!AskFor(*limiter_, {{"user", user}}, cost).allowed()) return false;
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
        const Decision decision = AskFor(limiter, {{"user", "ana"}});
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
        if (AskFor(limiter, {{"user", "ana"}}).allowed()) ++allowed;
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

TEST(LimiterRace, SixteenThreadsNeverHoldMoreSlotsThanThereAre) {
  constexpr int kSlots = 5;
  FakeClock clock(kStart);
  Limiter limiter(clock);
  Rule rule = MakeRule("export", {}, {MakeLimit(kSlots, absl::Seconds(30))});
  rule.algorithm = FindAlgorithm("concurrency");
  SetRules(limiter, {rule});
  std::atomic<int> held{0};
  std::atomic<int> allowed{0};

  OnThreads(16, [&](int) {
    for (int i = 0; i < 500; ++i) {
      const Decision decision = AskFor(limiter, {{"user", "ana"}});
      if (!decision.allowed()) continue;
      EXPECT_LE(++held, kSlots);
      ++allowed;
      --held;
      EXPECT_TRUE(limiter.Release(decision.slots.at(0)));
      limiter.Release(decision.slots.at(0));  // once more frees nothing
    }
  });

  EXPECT_GE(allowed, 500);
  EXPECT_EQ(Remaining(limiter, {{"user", "ana"}}), uint64_t{kSlots});
}

TEST(LimiterRace, SlotsThatExpireReleaseAndAreSweptStayWithinTheLimit) {
  constexpr int kSlots = 5;
  constexpr int64_t kTtl = 1'000;
  FakeClock clock(kStart);
  Limiter limiter(clock);
  Rule rule =
      MakeRule("export", {}, {MakeLimit(kSlots, absl::Nanoseconds(kTtl))});
  rule.algorithm = FindAlgorithm("concurrency");
  SetRules(limiter, {rule});
  struct Hold {
    int64_t from_ns;
    int64_t to_ns;
  };
  std::vector<std::vector<Hold>> holds(16);

  OnThreads(16, [&](int thread) {
    std::mt19937 random(static_cast<uint32_t>(thread));
    for (int i = 0; i < 500; ++i) {
      const Decision decision = AskFor(limiter, {{"user", "ana"}});
      const int64_t from_ns = clock.NowNs();
      clock.Advance(static_cast<int64_t>(random() % 20));
      if (thread == 0) limiter.Sweep(10);
      if (!decision.allowed()) continue;
      // Half are released, the others' holders die.
      int64_t to_ns = decision.decided_at_ns + kTtl;
      if (random() % 2 == 0) {
        to_ns = std::min(to_ns, clock.NowNs());
        limiter.Release(decision.slots.at(0));
      }
      if (from_ns < to_ns) {
        holds[static_cast<size_t>(thread)].push_back({from_ns, to_ns});
      }
    }
  });

  // From when the answer was there until the release began or the expiry, a
  // slot was held for sure; those that overlap were held at once.
  std::vector<std::pair<int64_t, int>> edges;
  for (const std::vector<Hold>& of_thread : holds) {
    for (const Hold& hold : of_thread) {
      edges.emplace_back(hold.from_ns, 1);
      edges.emplace_back(hold.to_ns, -1);
    }
  }
  std::sort(edges.begin(), edges.end());
  int held = 0;
  for (const auto& [at_ns, change] : edges) {
    held += change;
    EXPECT_LE(held, kSlots) << at_ns;
  }
  EXPECT_GT(edges.size(), 100u);
  clock.Advance(kTtl);
  EXPECT_EQ(Remaining(limiter, {{"user", "ana"}}), uint64_t{kSlots});
}

// Each decision's status shows the limit that it was made by, which must be one
// of the two sets', never a mixture; and neither set ever admits more.
TEST(LimiterRace, AThousandReloadsGiveNoDecisionThatNeitherSetWouldGive) {
  for (const char* name : {"token_bucket", "fixed_window", "sliding_window",
                           "sliding_log", "concurrency"}) {
    SCOPED_TRACE(name);
    FakeClock clock(kStart);
    Limiter limiter(clock);
    const auto rules = [&](bool even) {
      Rule rule = MakeRule("r", {"user"}, {PerHour(even ? 200 : 300)});
      Rule other = MakeRule(even ? "even" : "odd", {}, {PerHour(100'000)});
      rule.algorithm = FindAlgorithm(name);
      return even ? std::vector<Rule>{rule, other}
                  : std::vector<Rule>{other, rule};
    };
    SetRules(limiter, rules(false));
    std::atomic<uint64_t> allowed{0};
    std::atomic<bool> done{false};

    OnThreads(5, [&](int thread) {
      if (thread == 4) {
        for (int i = 0; i < 1'000; ++i) SetRules(limiter, rules(i % 2 == 0));
        done = true;
        return;
      }
      for (int i = 0; i < 500 || !done; ++i) {
        const Decision decision = AskFor(limiter, {{"user", "ana"}});
        if (decision.allowed()) ++allowed;
        ASSERT_EQ(decision.statuses.size(), 2u);
        const bool even = decision.statuses[0].rule->name == "r";
        const RuleStatus& status = decision.statuses[even ? 0 : 1];
        ASSERT_EQ(status.rule->name, "r");
        ASSERT_EQ(decision.statuses[even ? 1 : 0].rule->name,
                  even ? "even" : "odd");
        ASSERT_EQ(status.limit.tokens(), even ? 200u : 300u);
        ASSERT_LE(status.remaining, status.limit.tokens());
      }
    });

    // Each lowering and raising again may forget what was spent above the
    // lower limit (100), as "capped at the new burst" has it; sliding_log and
    // concurrency forget nothing.
    EXPECT_GE(allowed, 200u);
    if (absl::string_view(name) == "sliding_log" ||
        absl::string_view(name) == "concurrency") {
      EXPECT_LE(allowed, 300u);
    }
  }
}

TEST(LimiterRace, RefusalsByRulesJustReplacedForgetNothing) {
  // Raised once under traffic: threads that still have the old rules must not
  // cap what was spent under the new ones.
  for (int round = 0; round < 50; ++round) {
    FakeClock clock(kStart);
    Limiter limiter(clock);
    SetRules(limiter, {MakeRule("r", {}, {PerHour(100)})});
    std::atomic<uint64_t> allowed{0};
    OnThreads(5, [&](int thread) {
      if (thread == 4) {
        SetRules(limiter, {MakeRule("r", {}, {PerHour(1'000)})});
        return;
      }
      for (int i = 0; i < 500; ++i) {
        if (AskFor(limiter, {{"user", "ana"}}).allowed()) ++allowed;
      }
    });
    ASSERT_LE(allowed, 1'000u);
    ASSERT_EQ(Remaining(limiter, {{"user", "ana"}}), 1'000 - allowed);
  }
}

}  // namespace
}  // namespace tollgate
