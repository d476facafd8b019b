// Limiter::SetRules: one step, and what is spent stays spent.
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "server/base/clock.h"
#include "server/limiter/limiter.h"
#include "tests/limiter/ask.h"
#include "tests/limiter/limits.h"

namespace tollgate {
namespace {

class SetRulesTest : public testing::Test {
 protected:
  void Use(const Limit& limit, const std::string& name = "per-user") {
    SetRules(limiter_, {MakeRule(name, {"user"}, {limit})});
  }
  bool Take(uint64_t cost) {
    return AskFor(limiter_, {{"user", "ana"}}, cost).allowed();
  }
  uint64_t Left() { return Remaining(limiter_, {{"user", "ana"}}); }

  FakeClock clock_{kStart};
  Limiter limiter_{clock_};
};

TEST_F(SetRulesTest, ReplacesAllRulesInOneStep) {
  Use(PerSecond(1), "a");
  Use(PerSecond(1), "b");

  EXPECT_EQ(limiter_.rules()->size(), 1u);
  EXPECT_EQ(AskFor(limiter_, {{"user", "ana"}}).statuses.at(0).rule->name, "b");

  ASSERT_TRUE(limiter_.SetRules(RuleSet()).ok());
  EXPECT_TRUE(AskFor(limiter_, {{"user", "ana"}}).statuses.empty());
}

TEST_F(SetRulesTest, TheSameRulesChangeNothing) {
  Use(PerMinute(10));
  ASSERT_TRUE(Take(7));

  for (int i = 0; i < 10; ++i) Use(PerMinute(10));

  EXPECT_EQ(Left(), 3u);
  clock_.Advance(42 * kSecond - 1);
  EXPECT_EQ(limiter_.Sweep(10), 0u);
  clock_.Advance(1);
  EXPECT_EQ(limiter_.Sweep(10), 1u);
}

TEST_F(SetRulesTest, RaisingALimitGivesTheDifferenceAtOnce) {
  Use(PerHour(10));
  ASSERT_TRUE(Take(10));
  ASSERT_FALSE(Take(1));

  Use(PerHour(20));

  EXPECT_EQ(Left(), 10u);
  EXPECT_TRUE(Take(10));
  EXPECT_FALSE(Take(1));
}

TEST_F(SetRulesTest, LoweringALimitNeverGrants) {
  Use(PerHour(20));
  ASSERT_TRUE(Take(15));

  Use(PerHour(10));

  EXPECT_EQ(Left(), 0u);
  EXPECT_FALSE(Take(1));
}

TEST_F(SetRulesTest, BackAndForthNeverGrants) {
  Use(PerHour(10));
  ASSERT_TRUE(Take(10));
  for (int i = 0; i < 50; ++i) {
    Use(MakeLimit(7, absl::Minutes(11), 10));
    Use(PerHour(10));
    ASSERT_FALSE(Take(1)) << i;
  }
  // Rounding takes away less than a nanosecond each time.
  clock_.Advance(360 * kSecond + 100);
  EXPECT_TRUE(Take(1));
}

TEST_F(SetRulesTest, CountsSpentAtTheMomentOfTheReload) {
  Use(PerHour(10));
  ASSERT_TRUE(Take(10));
  clock_.Advance(18 * 60 * kSecond);  // 3 of 10 are back

  Use(PerHour(20));  // 7 spent, 13 left, and 20 an hour from here on
  clock_.Advance(9 * 60 * kSecond);  // 3 more, though first touched now

  EXPECT_EQ(Left(), 16u);
}

TEST_F(SetRulesTest, CarriesAnIdleBucketThroughSeveralReloads) {
  Use(PerHour(10));
  ASSERT_TRUE(Take(10));
  Use(PerHour(5));                    // 5 of 5 spent
  clock_.Advance(12 * 60 * kSecond);  // 1 is back: 4 spent
  Use(PerHour(10));
  clock_.Advance(6 * 60 * kSecond);  // 1 is back: 3 spent
  Use(PerHour(4));

  EXPECT_EQ(Left(), 1u);
  EXPECT_TRUE(Take(1));
  EXPECT_FALSE(Take(1));
}

TEST_F(SetRulesTest, DecidesTheSameWhetherABucketWasTouchedBetweenReloads) {
  for (const bool touched : {false, true}) {
    Limiter limiter(clock_);
    const auto use = [&](const Limit& limit) {
      SetRules(limiter, {MakeRule("r", {}, {limit})});
      if (touched) AskFor(limiter, {{"user", "ana"}}, limit.burst());
    };
    clock_.Set(kStart);
    use(PerSecond(3, 11));
    ASSERT_EQ(AskFor(limiter, {{"user", "ana"}}, 11).allowed(), !touched);
    for (const Limit& limit :
         {PerMinute(7, 12), MakeLimit(1'000'000'007, absl::Hours(24), 13)}) {
      clock_.Advance(1234);
      use(limit);
    }
    EXPECT_EQ(AskFor(limiter, {{"user", "ana"}}, 13).retry_after_ns, 950'400)
        << touched;
  }
}

TEST_F(SetRulesTest, SweepsAnIdleBucketByTheLimitInForce) {
  Use(PerHour(10));
  ASSERT_TRUE(Take(10));
  Use(PerSecond(10));

  clock_.Advance(kSecond - 1);
  EXPECT_EQ(limiter_.Sweep(10), 0u);
  clock_.Advance(1);
  EXPECT_EQ(limiter_.Sweep(10), 1u);
}

TEST_F(SetRulesTest, SweepsTheBucketsOfARuleThatIsGone) {
  Use(PerMinute(10));
  ASSERT_TRUE(Take(10));
  ASSERT_TRUE(limiter_.SetRules(RuleSet()).ok());

  clock_.Advance(60 * kSecond - 1);
  EXPECT_EQ(limiter_.Sweep(10), 0u);
  clock_.Advance(1);
  EXPECT_EQ(limiter_.Sweep(10), 1u);
}

TEST_F(SetRulesTest, ARuleThatComesBackKeepsWhatIsSpent) {
  Use(PerHour(10));
  ASSERT_TRUE(Take(10));
  ASSERT_TRUE(limiter_.SetRules(RuleSet()).ok());
  Use(PerHour(12));

  EXPECT_EQ(Left(), 2u);
}

TEST_F(SetRulesTest, AnotherNameIsAnotherRule) {
  Use(PerHour(10), "old");
  ASSERT_TRUE(Take(10));
  Use(PerHour(10), "new");

  EXPECT_EQ(Left(), 10u);
}

TEST_F(SetRulesTest, OtherRulesMayComeAndMove) {
  const Rule a = MakeRule("a", {"user"}, {PerHour(10)});
  const Rule b = MakeRule("b", {}, {PerHour(100)});
  SetRules(limiter_, {a});
  ASSERT_TRUE(Take(6));

  SetRules(limiter_, {b, a});

  EXPECT_EQ(AskFor(limiter_, {{"user", "ana"}}, 0).statuses.at(1).remaining,
            4u);
}

TEST_F(SetRulesTest, EachOfSeveralLimitsKeepsItsOwnSpent) {
  SetRules(limiter_, {MakeRule("r", {"user"}, {PerMinute(10), PerHour(100)})});
  ASSERT_TRUE(Take(10));

  SetRules(limiter_, {MakeRule("r", {"user"}, {PerMinute(15), PerHour(50)})});

  const Decision peek = AskFor(limiter_, {{"user", "ana"}}, 0);
  EXPECT_EQ(peek.statuses.at(0).remaining, 5u);
  EXPECT_EQ(peek.statuses.at(1).remaining, 40u);
}

TEST_F(SetRulesTest, PeekAfterAReloadChangesNothing) {
  Use(PerHour(10));
  ASSERT_TRUE(Take(10));
  Use(PerHour(20));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Left(), 10u);

  EXPECT_TRUE(Take(10));
  EXPECT_FALSE(Take(1));
}

// Notes what it is told.
class NotingObserver final : public DecisionObserver {
 public:
  void OnRules(const RuleSet& rules) override {
    sizes.push_back(rules.size());
    if (rules.FindDomain("shop") != nullptr) {
      bound = rules.FindDomain("shop")->rules[0].id != nullptr;
    }
  }
  void OnDecision(const Decision& decision) override {
    outcomes.push_back(decision.outcome);
    statuses += decision.statuses.size();
  }

  std::vector<size_t> sizes;
  bool bound = false;
  std::vector<Outcome> outcomes;
  size_t statuses = 0;
};

TEST(DecisionObserver, IsToldOfEachRuleSetOnceBound) {
  FakeClock clock(kStart);
  NotingObserver observer;
  LimiterOptions options;
  options.observer = &observer;
  Limiter limiter(clock, options);

  SetRules(limiter, {MakeRule("a", {}, {PerSecond(1)}),
                     MakeRule("b", {}, {PerSecond(1)})});

  EXPECT_EQ(observer.sizes, std::vector<size_t>({2}));
  EXPECT_TRUE(observer.bound);
}

TEST(DecisionObserver, IsToldOfEachDecisionExactlyOnce) {
  FakeClock clock(kStart);
  NotingObserver observer;
  LimiterOptions options;
  options.observer = &observer;
  Limiter limiter(clock, options);

  AskFor(limiter, {{"user", "ana"}});  // no rules yet
  SetRules(limiter, {MakeRule("a", {"user"}, {PerSecond(1)}),
                     MakeRule("b", {"user"}, {PerSecond(1)})});
  AskFor(limiter, {{"user", "ana"}});
  AskFor(limiter, {{"user", "ana"}});
  AskFor(limiter, {{"user", "ana"}}, 2);
  AskFor(limiter, {{"user", "ana"}}, 1, kStart - 1);
  AskFor(limiter, {{"ip", "::1"}});

  EXPECT_EQ(observer.outcomes,
            std::vector<Outcome>({Outcome::kAllowed, Outcome::kAllowed,
                                  Outcome::kRefused, Outcome::kImpossible,
                                  Outcome::kExpired, Outcome::kAllowed}));
  EXPECT_EQ(observer.statuses, 6u);
}

}  // namespace
}  // namespace tollgate
