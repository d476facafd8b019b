// Rules that refuse only together.
#include <cstdint>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/base/clock.h"
#include "tests/limiter/nodes.h"

namespace tollgate {
namespace {

class QuotaMode : public ::testing::Test {
 protected:
  void SetUp() override {
    Rule one = NodeAt({{"q", "one"}}, {Written(1)});
    Rule two = NodeAt({{"q", "two"}}, {Written(2)});
    Rule both =
        NodeAt({{"q", "both"}}, {Written(9), Written(1, LimitUnit::kDay)});
    Rule shadow = NodeAt({{"q", "shadow"}}, {Written(1)});
    one.node->quota_mode = two.node->quota_mode = true;
    both.node->quota_mode = shadow.node->quota_mode = true;
    shadow.mode = Mode::kShadow;
    SetRules(limiter_,
             {one, two, both, shadow, NodeAt({{"k", ""}}, {Written(3)})});
  }

  FakeClock clock_{kStart};
  Limiter limiter_{clock_};
  const std::vector<Entry> one_ = {{"q", "one"}};
  const std::vector<Entry> two_ = {{"q", "two"}};
  const std::vector<Entry> both_ = {{"q", "both"}};
  const std::vector<Entry> shadow_ = {{"q", "shadow"}};
  const std::vector<Entry> hard_ = {{"k", "v"}};
};

TEST_F(QuotaMode, RefusesOnlyIfAllOfThemAreOver) {
  EXPECT_TRUE(AskAll(limiter_, {one_, two_}).allowed());
  const Decision decision = AskAll(limiter_, {one_, two_});
  EXPECT_TRUE(decision.allowed());
  EXPECT_EQ(decision.statuses[0].outcome, Outcome::kRefused)
      << "stays over in the list";
  EXPECT_TRUE(decision.statuses[0].quota);
  EXPECT_EQ(decision.statuses[1].remaining, 0u) << "the other one is charged";
  EXPECT_EQ(AskAll(limiter_, {one_, two_}).outcome, Outcome::kRefused);
}

TEST_F(QuotaMode, WhatIsOverTakesNothingWhicheverOfItsLimitsRefuses) {
  EXPECT_TRUE(AskAll(limiter_, {both_, two_}).allowed());
  EXPECT_TRUE(AskAll(limiter_, {both_, two_}).allowed());
  const Decision decision = AskFor(limiter_, both_, 0);
  EXPECT_EQ(decision.statuses[0].remaining, 8u);
  EXPECT_EQ(decision.statuses[1].remaining, 0u);
}

TEST_F(QuotaMode, ARefusalOfAnotherRuleGivesBackWhatTheyTook) {
  EXPECT_TRUE(AskFor(limiter_, hard_, 3).allowed());
  EXPECT_FALSE(AskAll(limiter_, {two_, hard_}).allowed());
  EXPECT_FALSE(AskAll(limiter_, {hard_, two_}).allowed());
  EXPECT_EQ(Remaining(limiter_, two_), 2u);
}

TEST_F(QuotaMode, AllOverGivesBackWhatOtherRulesTook) {
  EXPECT_TRUE(AskFor(limiter_, one_).allowed());
  EXPECT_FALSE(AskAll(limiter_, {hard_, one_}).allowed());
  EXPECT_EQ(Remaining(limiter_, hard_), 3u);
}

TEST_F(QuotaMode, ACostAboveTheLimitIsOverAndStopsNobody) {
  const Decision decision = AskOn(limiter_, {one_, two_}, {Hits(2), Hits(2)});
  EXPECT_TRUE(decision.allowed());
  EXPECT_EQ(decision.statuses[0].outcome, Outcome::kImpossible);
  EXPECT_EQ(decision.statuses[1].remaining, 0u);
}

TEST_F(QuotaMode, OneInShadowModeCountsAsNotOver) {
  EXPECT_TRUE(AskAll(limiter_, {one_, shadow_}).allowed());
  EXPECT_TRUE(AskAll(limiter_, {one_, shadow_}).allowed());
}

}  // namespace
}  // namespace tollgate
