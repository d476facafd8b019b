// Rules in mode shadow: counted and reported, never refusing.
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "server/base/clock.h"
#include "server/limiter/limiter.h"
#include "tests/limiter/ask.h"
#include "tests/limiter/limits.h"

namespace tollgate {
namespace {

class ShadowRule : public testing::Test {
 protected:
  static Rule Shadow(Rule rule) {
    rule.mode = Mode::kShadow;
    return rule;
  }

  FakeClock clock_{kStart};
  Limiter limiter_{clock_};
};

TEST_F(ShadowRule, TakesAndReportsButNeverRefuses) {
  SetRules(limiter_, {Shadow(MakeRule("trial", {"user"}, {PerSecond(1)}))});
  const Decision first = AskFor(limiter_, {{"user", "ana"}});
  EXPECT_TRUE(first.statuses.at(0).shadow);
  EXPECT_EQ(first.statuses.at(0).outcome, Outcome::kAllowed);
  EXPECT_EQ(first.statuses.at(0).remaining, 0u);

  const Decision second = AskFor(limiter_, {{"user", "ana"}});

  EXPECT_EQ(second.outcome, Outcome::kAllowed);
  EXPECT_EQ(second.retry_after_ns, 0);
  EXPECT_EQ(second.statuses.at(0).outcome, Outcome::kRefused);
  EXPECT_EQ(second.statuses.at(0).retry_after_ns, kSecond);
}

TEST_F(ShadowRule, DoesNotStopTheOthersInAnyOrder) {
  const Rule trial = Shadow(MakeRule("trial", {"user"}, {PerMinute(1)}));
  const Rule real = MakeRule("real", {"user"}, {PerMinute(3)});
  for (const bool shadow_first : {true, false}) {
    Limiter limiter(clock_);
    SetRules(limiter, shadow_first ? std::vector<Rule>{trial, real}
                                   : std::vector<Rule>{real, trial});
    for (int i = 0; i < 3; ++i) {
      ASSERT_TRUE(AskFor(limiter, {{"user", "ana"}}).allowed()) << i;
    }

    const Decision refused = AskFor(limiter, {{"user", "ana"}});
    EXPECT_EQ(refused.outcome, Outcome::kRefused);
    // The wait is that of the enforced rule, though the shadow's is longer.
    EXPECT_EQ(refused.retry_after_ns, 20 * kSecond);
  }
}

TEST_F(ShadowRule, IsGivenBackWhenAnEnforcedRuleRefuses) {
  const Rule trial = Shadow(MakeRule("trial", {"user"}, {PerMinute(10)}));
  const Rule real = MakeRule("real", {"user"}, {PerMinute(1)});
  for (const bool shadow_first : {true, false}) {
    Limiter limiter(clock_);
    SetRules(limiter, shadow_first ? std::vector<Rule>{trial, real}
                                   : std::vector<Rule>{real, trial});
    ASSERT_TRUE(AskFor(limiter, {{"user", "ana"}}).allowed());
    for (int i = 0; i < 5; ++i) {
      ASSERT_FALSE(AskFor(limiter, {{"user", "ana"}}).allowed());
    }

    const Decision peek = AskFor(limiter, {{"user", "ana"}}, 0);
    EXPECT_EQ(peek.statuses.at(shadow_first ? 0 : 1).remaining, 9u);
  }
}

TEST_F(ShadowRule, ReportsAnImpossibleCostAndLetsItPass) {
  SetRules(limiter_, {Shadow(MakeRule("trial", {"user"}, {PerMinute(5)})),
                      MakeRule("real", {"user"}, {PerMinute(10)})});

  const Decision decision = AskFor(limiter_, {{"user", "ana"}}, 6);

  EXPECT_EQ(decision.outcome, Outcome::kAllowed);
  EXPECT_EQ(decision.statuses.at(0).outcome, Outcome::kImpossible);
  EXPECT_EQ(decision.statuses.at(0).remaining, 5u);
  EXPECT_EQ(decision.statuses.at(1).remaining, 4u);
}

TEST_F(ShadowRule, KeepsItsBucketWhenItIsEnforced) {
  const Rule rule = MakeRule("r", {"user"}, {PerMinute(10)});
  SetRules(limiter_, {Shadow(rule)});
  ASSERT_TRUE(AskFor(limiter_, {{"user", "ana"}}, 7).allowed());

  SetRules(limiter_, {rule});

  EXPECT_EQ(Remaining(limiter_, {{"user", "ana"}}), 3u);
  EXPECT_FALSE(AskFor(limiter_, {{"user", "ana"}}, 4).allowed());
}

TEST_F(ShadowRule, ARuleThatIsOffIsAsIfItWereNotThere) {
  Rule off = MakeRule("off", {"user"}, {PerMinute(1)});
  off.mode = Mode::kOff;
  SetRules(limiter_, {off});

  for (int i = 0; i < 3; ++i) {
    const Decision decision = AskFor(limiter_, {{"user", "ana"}});
    EXPECT_TRUE(decision.allowed());
    EXPECT_TRUE(decision.statuses.empty());
  }
}

}  // namespace
}  // namespace tollgate
