#include "server/limiter/limiter.h"

#include <algorithm>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/base/clock.h"
#include "tests/limiter/ask.h"
#include "tests/limiter/limits.h"

namespace tollgate {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

class LimiterTest : public testing::Test {
 protected:
  FakeClock clock_{kStart};
  Limiter limiter_{clock_};
};

std::vector<std::string> RulesWith(const Decision& decision, Outcome outcome) {
  std::vector<std::string> names;
  for (const RuleStatus& status : decision.statuses) {
    if (status.outcome == outcome) names.push_back(status.rule->name);
  }
  return names;
}

TEST_F(LimiterTest, AllowsEverythingWithoutRules) {
  const Decision decision = AskFor(limiter_, {{"user", "ana"}});

  EXPECT_EQ(decision.outcome, Outcome::kAllowed);
  EXPECT_EQ(decision.domain, nullptr);
  EXPECT_TRUE(decision.statuses.empty());
  EXPECT_EQ(limiter_.bucket_count(), 0u);
}

TEST_F(LimiterTest, AllowsWhatNoRuleMatchesAndRemembersNothing) {
  SetRules(limiter_, {MakeRule("per-user", {"user"}, {PerSecond(1)})});

  const Decision decision = AskFor(limiter_, {{"ip", "::1"}});

  EXPECT_TRUE(decision.allowed());
  EXPECT_TRUE(decision.statuses.empty());
  ASSERT_NE(decision.domain, nullptr);  // the domain has rules
  EXPECT_EQ(decision.domain->name, "shop");
  EXPECT_EQ(limiter_.bucket_count(), 0u);
}

TEST_F(LimiterTest, KnowsNoRulesOfAnotherDomain) {
  SetRules(limiter_, {MakeRule("per-user", {"user"}, {PerSecond(1)})});
  const Entry entry = {"user", "ana"};
  const Descriptor descriptor(&entry, 1);

  const Decision decision = limiter_.Decide(Request{"bank", {&descriptor, 1}});

  EXPECT_TRUE(decision.allowed());
  EXPECT_EQ(decision.domain, nullptr);
}

TEST_F(LimiterTest, AnswersWithTheStateOfEachRule) {
  SetRules(limiter_, {MakeRule("per-user", {"user"}, {PerSecond(10, 20)})});

  const Decision decision = AskFor(limiter_, {{"user", "ana"}}, 5);

  EXPECT_TRUE(decision.allowed());
  EXPECT_FALSE(decision.peek);
  EXPECT_EQ(decision.retry_after_ns, 0);
  ASSERT_EQ(decision.statuses.size(), 1u);
  const RuleStatus& status = decision.statuses[0];
  EXPECT_EQ(status.rule->name, "per-user");
  EXPECT_EQ(status.limit, PerSecond(10, 20));
  EXPECT_EQ(status.outcome, Outcome::kAllowed);
  EXPECT_FALSE(status.shadow);
  EXPECT_EQ(status.remaining, 15u);
  EXPECT_EQ(status.retry_after_ns, 0);
  EXPECT_EQ(status.reset_after_ns, 500 * kMilli);
}

TEST_F(LimiterTest, TakesExactlyTheBurstAndThenRefuses) {
  SetRules(limiter_, {MakeRule("per-user", {"user"}, {PerSecond(10)})});
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(AskFor(limiter_, {{"user", "ana"}}).allowed()) << i;
  }

  const Decision refused = AskFor(limiter_, {{"user", "ana"}});

  EXPECT_EQ(refused.outcome, Outcome::kRefused);
  EXPECT_EQ(refused.retry_after_ns, 100 * kMilli);
  EXPECT_EQ(refused.statuses.at(0).retry_after_ns, 100 * kMilli);
  EXPECT_TRUE(AskFor(limiter_, {{"user", "bob"}}).allowed());
}

TEST_F(LimiterTest, WaitingTheRetryAfterSucceedsAndOneNanosecondLessDoesNot) {
  SetRules(limiter_, {MakeRule("per-user", {"user"}, {PerSecond(3)})});
  ASSERT_TRUE(AskFor(limiter_, {{"user", "ana"}}, 3).allowed());
  const int64_t wait = AskFor(limiter_, {{"user", "ana"}}, 2).retry_after_ns;

  clock_.Advance(wait - 1);
  EXPECT_FALSE(AskFor(limiter_, {{"user", "ana"}}, 2).allowed());
  clock_.Advance(1);
  EXPECT_TRUE(AskFor(limiter_, {{"user", "ana"}}, 2).allowed());
}

TEST_F(LimiterTest, MultipliesTheCostByTheRules) {
  Rule search = MakeRule("search", {"user"}, {PerMinute(100)});
  search.cost = 10;
  SetRules(limiter_, {search});

  EXPECT_EQ(AskFor(limiter_, {{"user", "ana"}}, 3).statuses.at(0).remaining,
            70u);
  EXPECT_EQ(AskFor(limiter_, {{"user", "ana"}}, 7).statuses.at(0).remaining,
            0u);
  EXPECT_EQ(AskFor(limiter_, {{"user", "bob"}}, 11).outcome,
            Outcome::kImpossible);
}

TEST_F(LimiterTest, TheLargestCostTimesTheLargestFactorIsImpossible) {
  Rule rule = MakeRule("r", {}, {PerSecond(4294967295)});
  rule.cost = 4294967295;
  SetRules(limiter_, {rule});

  EXPECT_TRUE(AskFor(limiter_, {{"user", "ana"}}, 1).allowed());
  EXPECT_EQ(AskFor(limiter_, {{"user", "ana"}}, 4294967295).outcome,
            Outcome::kImpossible);
}

TEST_F(LimiterTest, ARefusalLeavesTheOtherRulesUntouchedInAnyOrder) {
  std::vector<int> order = {0, 1, 2};
  do {
    Limiter limiter(clock_);
    const std::vector<Rule> rules = {
        MakeRule("drained", {"user"}, {PerMinute(1)}),
        MakeRule("thirds", {"user"}, {MakeLimit(7, absl::Seconds(3))}),
        MakeRule("all", {}, {PerHour(1000)})};
    SetRules(limiter, {rules[order[0]], rules[order[1]], rules[order[2]]});
    ASSERT_TRUE(AskFor(limiter, {{"user", "ana"}}).allowed());
    const Decision before = AskFor(limiter, {{"user", "ana"}}, 0);

    for (int i = 0; i < 100; ++i) {
      const Decision refused = AskFor(limiter, {{"user", "ana"}});
      ASSERT_EQ(refused.outcome, Outcome::kRefused);
      ASSERT_THAT(RulesWith(refused, Outcome::kRefused),
                  ElementsAre("drained"));
    }

    const Decision after = AskFor(limiter, {{"user", "ana"}}, 0);
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(after.statuses[i].remaining, before.statuses[i].remaining);
      EXPECT_EQ(after.statuses[i].reset_after_ns,
                before.statuses[i].reset_after_ns);
    }
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_F(LimiterTest, ARefusalNamesEveryRefusingRuleAndTheLongestWait) {
  SetRules(limiter_, {MakeRule("second", {"user"}, {PerSecond(1)}),
                      MakeRule("open", {"user"}, {PerSecond(100)}),
                      MakeRule("minute", {"user"}, {PerMinute(1)}),
                      MakeRule("ten", {"user"}, {PerSecond(10, 1)})});
  ASSERT_TRUE(AskFor(limiter_, {{"user", "ana"}}).allowed());

  const Decision refused = AskFor(limiter_, {{"user", "ana"}});

  EXPECT_EQ(refused.outcome, Outcome::kRefused);
  EXPECT_THAT(RulesWith(refused, Outcome::kRefused),
              ElementsAre("second", "minute", "ten"));
  EXPECT_EQ(refused.retry_after_ns, 60 * kSecond);
  EXPECT_EQ(refused.statuses[0].retry_after_ns, kSecond);
  EXPECT_EQ(refused.statuses[1].remaining, 99u);
  EXPECT_EQ(refused.statuses[3].retry_after_ns, 100 * kMilli);
}

TEST_F(LimiterTest, StatusesComeInTheOrderOfTheRules) {
  SetRules(limiter_, {MakeRule("b", {"user"}, {PerSecond(1)}),
                      MakeRule("c", {}, {PerSecond(1)}),
                      MakeRule("a", {"ip"}, {PerSecond(1)})});

  const Decision decision =
      AskAll(limiter_, {{{"ip", "::1"}}, {{"ip", "::2"}}, {{"user", "ana"}}});

  EXPECT_THAT(RulesWith(decision, Outcome::kAllowed),
              ElementsAre("b", "c", "a", "a"));
}

TEST_F(LimiterTest, AnImpossibleCostTakesNothingFromAnyRule) {
  SetRules(limiter_, {MakeRule("large", {"user"}, {PerMinute(100)}),
                      MakeRule("small", {"user"}, {PerMinute(5)})});

  const Decision cold = AskFor(limiter_, {{"user", "ana"}}, 6);
  EXPECT_EQ(cold.outcome, Outcome::kImpossible);
  EXPECT_EQ(cold.retry_after_ns, 0);
  EXPECT_THAT(RulesWith(cold, Outcome::kImpossible), ElementsAre("small"));
  EXPECT_EQ(cold.statuses[0].remaining, 100u);
  EXPECT_EQ(cold.statuses[1].remaining, 5u);
  EXPECT_EQ(limiter_.bucket_count(), 0u);

  ASSERT_TRUE(AskFor(limiter_, {{"user", "ana"}}, 5).allowed());
  const Decision warm = AskFor(limiter_, {{"user", "ana"}}, 6);
  EXPECT_EQ(warm.outcome, Outcome::kImpossible);
  EXPECT_EQ(warm.statuses[0].remaining, 95u);
  EXPECT_EQ(warm.statuses[1].remaining, 0u);
}

TEST_F(LimiterTest, ImpossibleSaysMoreThanRefused) {
  SetRules(limiter_, {MakeRule("small", {"user"}, {PerMinute(5)}),
                      MakeRule("large", {"user"}, {PerMinute(100)})});
  for (int i = 0; i < 5; ++i) AskFor(limiter_, {{"user", "ana"}});
  AskFor(limiter_, {{"ip", "x"}});

  const Decision decision = AskFor(limiter_, {{"user", "ana"}}, 96);

  EXPECT_EQ(decision.outcome, Outcome::kImpossible);
  EXPECT_EQ(decision.retry_after_ns, 0);
  EXPECT_THAT(RulesWith(decision, Outcome::kImpossible), ElementsAre("small"));
  EXPECT_THAT(RulesWith(decision, Outcome::kRefused), ElementsAre("large"));
}

TEST_F(LimiterTest, APeekTakesNothingAndCreatesNoState) {
  SetRules(limiter_, {MakeRule("per-user", {"user"}, {PerSecond(10)})});

  const Decision cold = AskFor(limiter_, {{"user", "ana"}}, 0);
  EXPECT_TRUE(cold.allowed());
  EXPECT_TRUE(cold.peek);
  EXPECT_EQ(cold.statuses.at(0).remaining, 10u);
  EXPECT_EQ(limiter_.bucket_count(), 0u);

  ASSERT_TRUE(AskFor(limiter_, {{"user", "ana"}}, 10).allowed());
  for (int i = 0; i < 10; ++i) {
    const Decision warm = AskFor(limiter_, {{"user", "ana"}}, 0);
    ASSERT_EQ(warm.outcome, Outcome::kRefused);
    ASSERT_EQ(warm.retry_after_ns, 100 * kMilli);
  }
  clock_.Advance(100 * kMilli);
  EXPECT_TRUE(AskFor(limiter_, {{"user", "ana"}}, 0).allowed());
  EXPECT_TRUE(AskFor(limiter_, {{"user", "ana"}}).allowed());
}

TEST_F(LimiterTest, ADeadRequestTakesNothing) {
  SetRules(limiter_, {MakeRule("per-user", {"user"}, {PerSecond(10)})});

  const Decision dead = AskFor(limiter_, {{"user", "ana"}}, 1, kStart - 1);
  EXPECT_EQ(dead.outcome, Outcome::kExpired);
  EXPECT_TRUE(dead.statuses.empty());
  EXPECT_EQ(limiter_.bucket_count(), 0u);

  EXPECT_TRUE(AskFor(limiter_, {{"user", "ana"}}, 1, kStart).allowed());
  EXPECT_EQ(Remaining(limiter_, {{"user", "ana"}}), 9u);
}

TEST_F(LimiterTest, SeveralLimitsOnOneKeyMustAllAllow) {
  SetRules(limiter_,
           {MakeRule("per-user", {"user"}, {PerSecond(2), PerMinute(3)})});
  ASSERT_TRUE(AskFor(limiter_, {{"user", "ana"}}, 2).allowed());

  const Decision by_second = AskFor(limiter_, {{"user", "ana"}});
  EXPECT_EQ(by_second.outcome, Outcome::kRefused);
  EXPECT_EQ(by_second.statuses.at(0).outcome, Outcome::kRefused);
  EXPECT_EQ(by_second.statuses.at(1).outcome, Outcome::kAllowed);
  EXPECT_EQ(by_second.statuses.at(1).remaining, 1u);
  EXPECT_EQ(by_second.statuses.at(1).limit, PerMinute(3));

  clock_.Advance(kSecond);  // both tokens of the second, 1 + 1/20 of the minute
  ASSERT_TRUE(AskFor(limiter_, {{"user", "ana"}}).allowed());
  const Decision by_minute = AskFor(limiter_, {{"user", "ana"}});
  EXPECT_EQ(by_minute.statuses.at(0).outcome, Outcome::kAllowed);
  EXPECT_EQ(by_minute.statuses.at(0).remaining, 1u);  // given back
  EXPECT_EQ(by_minute.statuses.at(1).outcome, Outcome::kRefused);
  EXPECT_EQ(by_minute.retry_after_ns, 19 * kSecond);
}

TEST_F(LimiterTest, DescriptorsThatSelectOneBucketChargeItOnce) {
  SetRules(limiter_, {MakeRule("per-user", {"user"}, {PerSecond(10)}),
                      MakeRule("all", {}, {PerSecond(10)})});

  const Decision decision = AskAll(
      limiter_,
      {{{"user", "ana"}, {"path", "/a"}}, {{"path", "/b"}, {"user", "ana"}}});

  ASSERT_EQ(decision.statuses.size(), 2u);
  EXPECT_EQ(decision.statuses[0].remaining, 9u);
  EXPECT_EQ(decision.statuses[1].remaining, 9u);
}

TEST_F(LimiterTest, DescriptorsThatSelectDifferentBucketsChargeBoth) {
  SetRules(limiter_, {MakeRule("per-user", {"user"}, {PerSecond(10)})});

  const Decision decision =
      AskAll(limiter_, {{{"user", "ana"}}, {{"user", "bob"}}}, 3);

  ASSERT_EQ(decision.statuses.size(), 2u);
  EXPECT_EQ(Remaining(limiter_, {{"user", "ana"}}), 7u);
  EXPECT_EQ(Remaining(limiter_, {{"user", "bob"}}), 7u);
}

TEST_F(LimiterTest, ARefusalOfOneDescriptorGivesBackTheOther) {
  SetRules(limiter_, {MakeRule("per-user", {"user"}, {PerSecond(10)})});
  ASSERT_TRUE(AskFor(limiter_, {{"user", "bob"}}, 10).allowed());

  for (int i = 0; i < 10; ++i) {
    ASSERT_FALSE(
        AskAll(limiter_, {{{"user", "ana"}}, {{"user", "bob"}}}).allowed());
    ASSERT_FALSE(
        AskAll(limiter_, {{{"user", "bob"}}, {{"user", "ana"}}}).allowed());
  }

  EXPECT_EQ(Remaining(limiter_, {{"user", "ana"}}), 10u);
}

TEST_F(LimiterTest, KeysWhoseValuesRunTogetherHaveBucketsOfTheirOwn) {
  SetRules(limiter_, {MakeRule("pair", {"a", "b"}, {PerMinute(1)})});

  EXPECT_TRUE(AskFor(limiter_, {{"a", "a|b"}, {"b", "c"}}).allowed());
  EXPECT_TRUE(AskFor(limiter_, {{"a", "a"}, {"b", "b|c"}}).allowed());
  EXPECT_TRUE(AskFor(limiter_, {{"a", "c"}, {"b", "a|b"}}).allowed());
  EXPECT_FALSE(AskFor(limiter_, {{"b", "c"}, {"a", "a|b"}}).allowed());
}

TEST_F(LimiterTest, RulesOfOneKeyHaveBucketsOfTheirOwn) {
  SetRules(limiter_, {MakeRule("a", {"user"}, {PerMinute(1)}),
                      MakeRule("b", {"user"}, {PerMinute(2)})});
  ASSERT_TRUE(AskFor(limiter_, {{"user", "ana"}}).allowed());

  const Decision refused = AskFor(limiter_, {{"user", "ana"}});
  EXPECT_THAT(RulesWith(refused, Outcome::kRefused), ElementsAre("a"));
  EXPECT_EQ(limiter_.bucket_count(), 2u);
}

TEST_F(LimiterTest, ForgetsABucketOnceItIsFullAndNotBefore) {
  SetRules(limiter_, {MakeRule("per-user", {"user"}, {PerSecond(10)})});
  ASSERT_TRUE(AskFor(limiter_, {{"user", "ana"}}, 10).allowed());
  ASSERT_EQ(limiter_.bucket_count(), 1u);

  clock_.Advance(kSecond - 1);
  EXPECT_EQ(limiter_.Sweep(100), 0u);
  EXPECT_EQ(limiter_.bucket_count(), 1u);

  clock_.Advance(1);
  EXPECT_EQ(limiter_.Sweep(100), 1u);
  EXPECT_EQ(limiter_.bucket_count(), 0u);
  EXPECT_EQ(limiter_.swept_count(), 1u);
  EXPECT_EQ(Remaining(limiter_, {{"user", "ana"}}), 10u);
}

TEST_F(LimiterTest, ForgettingGrantsNothingToAClockThatGoesBack) {
  SetRules(limiter_, {MakeRule("per-user", {"user"}, {PerSecond(10)})});
  ASSERT_TRUE(AskFor(limiter_, {{"user", "ana"}}, 10).allowed());
  clock_.Advance(kSecond);
  ASSERT_EQ(limiter_.Sweep(100), 1u);

  // In [start, start + 1 s] at most 10 + 10 may pass, whatever the clock does
  // meanwhile.
  clock_.Advance(-kSecond);
  ASSERT_TRUE(AskFor(limiter_, {{"user", "ana"}}, 10).allowed());
  clock_.Advance(kSecond);
  EXPECT_FALSE(AskFor(limiter_, {{"user", "ana"}}).allowed());
}

TEST_F(LimiterTest, SweepsInSmallStepsThatGoOn) {
  SetRules(limiter_, {MakeRule("per-user", {"user"}, {PerSecond(1)})});
  for (int i = 0; i < 100; ++i) {
    const std::string user = std::to_string(i);
    ASSERT_TRUE(AskFor(limiter_, {{"user", user}}).allowed());
  }
  clock_.Advance(kSecond);

  size_t forgotten = 0;
  for (int i = 0; i < 10; ++i) {
    const size_t step = limiter_.Sweep(10);
    EXPECT_LE(step, 10u);
    forgotten += step;
  }
  EXPECT_EQ(forgotten, 100u);
}

}  // namespace
}  // namespace tollgate
