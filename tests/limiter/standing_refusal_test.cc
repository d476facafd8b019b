// How long a refusal may be repeated without asking: Decision::stands_for_ns.
#include <vector>

#include "gtest/gtest.h"
#include "server/base/clock.h"
#include "server/limiter/limiter.h"
#include "tests/limiter/ask.h"
#include "tests/limiter/limits.h"
#include "tests/limiter/nodes.h"

namespace tollgate {
namespace {

class StandingRefusalTest : public testing::Test {
 protected:
  Decision Ask(uint64_t cost = 1) {
    return AskFor(limiter_, {{"user", "ana"}}, cost);
  }
  static Rule Slots(const char* name, uint64_t slots) {
    Rule rule = MakeRule(name, {"user"}, {PerMinute(slots)});
    rule.algorithm = FindAlgorithm("concurrency");
    return rule;
  }

  FakeClock clock_{kStart};
  Limiter limiter_{clock_};
};

TEST_F(StandingRefusalTest, StandsAsLongAsTheWait) {
  SetRules(limiter_, {MakeRule("r", {"user"}, {PerSecond(1)})});
  EXPECT_EQ(Ask().stands_for_ns, 0) << "is allowed";
  clock_.Advance(kSecond / 4);
  EXPECT_EQ(Ask().stands_for_ns, kSecond * 3 / 4);
  EXPECT_EQ(Ask(2).stands_for_ns, 0) << "is impossible";
}

TEST_F(StandingRefusalTest, StandsAsLongAsTheLongestWait) {
  SetRules(limiter_, {MakeRule("a", {"user"}, {PerSecond(1)}),
                      MakeRule("b", {"user"}, {PerMinute(1)}),
                      MakeRule("c", {"user"}, {PerSecond(9)})});
  Ask();
  EXPECT_EQ(Ask().stands_for_ns, 60 * kSecond);
}

TEST_F(StandingRefusalTest, DoesNotStandWhereAFreedSlotMayEndIt) {
  SetRules(limiter_, {Slots("slots", 1)});
  Ask();
  const Decision refused = Ask();
  EXPECT_EQ(refused.outcome, Outcome::kRefused);
  EXPECT_EQ(refused.retry_after_ns, 60 * kSecond);
  EXPECT_EQ(refused.stands_for_ns, 0);
}

TEST_F(StandingRefusalTest, StandsByTheRuleThatRefusesWhateverBecomesOfSlots) {
  SetRules(limiter_,
           {Slots("slots", 1), MakeRule("r", {"user"}, {PerSecond(1)})});
  Ask();
  const Decision refused = Ask();
  EXPECT_EQ(refused.retry_after_ns, 60 * kSecond);
  EXPECT_EQ(refused.stands_for_ns, kSecond);
}

TEST_F(StandingRefusalTest, AShadowRuleDoesNotMakeItStand) {
  Rule shadow = MakeRule("shadow", {"user"}, {PerMinute(1)});
  shadow.mode = Mode::kShadow;
  SetRules(limiter_, {shadow, MakeRule("r", {"user"}, {PerSecond(1)})});
  Ask();
  EXPECT_EQ(Ask().stands_for_ns, kSecond);
}

TEST_F(StandingRefusalTest, APenaltySeesEachRefusalUntilItBlocks) {
  Rule rule = MakeRule("login", {"user"}, {PerMinute(1)});
  rule.penalty = PenaltyRule{Holding(PerMinute(2), absl::Minutes(10))};
  SetRules(limiter_, {rule});
  Ask();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Ask().stands_for_ns, 0);
  EXPECT_EQ(Ask().stands_for_ns, 600 * kSecond) << "is blocked";
}

// Nodes, and what asks by descriptor.
constexpr char kUser[] = "user";

TEST_F(StandingRefusalTest, OfANodeStandsAsLongAsTheLongestWait) {
  SetRules(limiter_, {NodeAt({{kUser, "", false}},
                             {Written(1, LimitUnit::kSecond), Written(1)})});
  EXPECT_EQ(Ask().stands_for_ns, 0) << "is allowed";
  clock_.Advance(kSecond / 4);
  EXPECT_EQ(Ask().stands_for_ns, 60 * kSecond - kSecond / 4);
  EXPECT_EQ(Ask(2).stands_for_ns, 0) << "is impossible";
}

TEST_F(StandingRefusalTest, OfANodeStandsUntilAllDescriptorsPassTogether) {
  SetRules(limiter_, {NodeAt({{kUser, "", false}}, {Written(60)})});
  const std::vector<std::vector<Entry>> twice = {{{"user", "ana"}},
                                                 {{"user", "ana"}}};
  ASSERT_TRUE(Ask(53).allowed());
  const int64_t stands_ns = AskOn(limiter_, twice, {}, 5).stands_for_ns;
  EXPECT_EQ(stands_ns, 3 * kSecond) << "of 10 there are 7";
  clock_.Advance(stands_ns - 1);
  EXPECT_FALSE(AskOn(limiter_, twice, {}, 5).allowed());
  clock_.Advance(1);
  EXPECT_TRUE(AskOn(limiter_, twice, {}, 5).allowed());
}

TEST_F(StandingRefusalTest, OfNodesInQuotaModeDoesNotStand) {
  Rule quota = NodeAt({{kUser, "", false}}, {Written(1)});
  quota.node->quota_mode = true;
  SetRules(limiter_, {quota});
  Ask();
  const Decision refused = Ask();
  EXPECT_EQ(refused.outcome, Outcome::kRefused);
  EXPECT_EQ(refused.stands_for_ns, 0);
}

TEST_F(StandingRefusalTest, DoesNotStandIfTheRequestGivesTokensBack) {
  SetRules(limiter_, {NodeAt({{kUser, "", false}}, {Written(1)})});
  Ask();
  const std::vector<std::vector<Entry>> twice = {{{"user", "ana"}},
                                                 {{"user", "ana"}}};
  const Decision refused = AskOn(limiter_, twice, {Hits(1), GiveBack(1)});
  EXPECT_EQ(refused.outcome, Outcome::kRefused);
  EXPECT_EQ(refused.stands_for_ns, 0);
}

}  // namespace
}  // namespace tollgate
