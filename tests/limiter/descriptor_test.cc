// How requests are decided under rules from Envoy-format files.
#include <cstdint>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/base/clock.h"
#include "server/limiter/fixed_window.h"
#include "tests/limiter/nodes.h"

namespace tollgate {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

class DescriptorRules : public ::testing::Test {
 protected:
  FakeClock clock_{kStart};
  Limiter limiter_{clock_};
};

// FIELD: two rules in one call; the narrow one refuses, the broad one must not
// be charged.
TEST_F(DescriptorRules, ARefusedRequestCostsItsOtherDescriptorsNothing) {
  const std::vector<Entry> group = {{"group", "bar"}};
  const std::vector<Entry> special = {{"special", "s1"}};
  for (const bool swapped : {false, true}) {
    SCOPED_TRACE(swapped);
    Limiter limiter(clock_);
    SetRules(limiter, {NodeAt({{"group", "bar"}}, {Written(10)}),
                       NodeAt({{"special", "s1"}}, {Written(3)})});
    for (int i = 0; i < 5; ++i) {
      const Decision decision =
          AskAll(limiter, swapped ? std::vector{special, group}
                                  : std::vector{group, special});
      EXPECT_EQ(decision.allowed(), i < 3);
      EXPECT_TRUE(decision.by_descriptor);
      ASSERT_THAT(decision.statuses, SizeIs(2));
      EXPECT_EQ(decision.statuses[1].descriptor, 1u);
      EXPECT_EQ(decision.statuses[swapped ? 1 : 0].rule->name, "group_bar");
    }
    for (int i = 0; i < 8; ++i) {
      const Decision decision = AskFor(limiter, group);
      EXPECT_EQ(decision.allowed(), i < 7);
      if (i == 0) {
        EXPECT_EQ(decision.statuses[0].remaining, 6u);
      }
    }
  }
}

TEST_F(DescriptorRules, TwoEqualDescriptorsChargeTheSameBucketTwice) {
  SetRules(limiter_, {NodeAt({{"user", ""}}, {Written(5)})});
  const std::vector<Entry> ana = {{"user", "ana"}};
  const Decision decision = AskAll(limiter_, {ana, ana});
  EXPECT_TRUE(decision.allowed());
  EXPECT_EQ(decision.statuses[0].remaining, 4u);
  EXPECT_EQ(decision.statuses[1].remaining, 3u);
  EXPECT_TRUE(AskAll(limiter_, {ana, ana}).allowed());
  const Decision refused = AskAll(limiter_, {ana, ana});
  EXPECT_EQ(refused.outcome, Outcome::kRefused);
  EXPECT_EQ(Remaining(limiter_, ana), 1u) << "all or nothing";
  EXPECT_EQ(AskAll(limiter_, {ana, ana, ana, ana, ana, ana}).outcome,
            Outcome::kImpossible)
      << "six together never fit in five";
}

// Exactly: not a nanosecond before, whichever of them is refused at first.
TEST_F(DescriptorRules, TheWaitIsForAllDescriptorsOfABucket) {
  const std::vector<Entry> ana = {{"user", "ana"}};
  for (const uint64_t left : {0, 1, 2}) {
    SCOPED_TRACE(left);
    Limiter limiter(clock_);
    SetRules(limiter, {NodeAt({{"user", ""}}, {Written(6)})});
    ASSERT_TRUE(AskOn(limiter, {ana}, {Hits(6 - left)}).allowed());
    const auto ask = [&] {
      return AskOn(limiter, {ana, ana, ana}, {Hits(1), Hits(2), Hits(1)});
    };
    const Decision refused = ask();
    EXPECT_EQ(refused.outcome, Outcome::kRefused);
    EXPECT_EQ(refused.retry_after_ns,
              static_cast<int64_t>(4 - left) * 10 * kSecond);
    clock_.Advance(refused.retry_after_ns - 1);
    EXPECT_EQ(ask().retry_after_ns, 1);
    clock_.Advance(1);
    EXPECT_TRUE(ask().allowed());
  }
}

// 2.7 and 2.8, with the difference that a refused call is not charged.
TEST_F(DescriptorRules, HitsRemainAsTheFormatSays) {
  SetRules(limiter_, {NodeAt({{"user", ""}}, {Written(10)})});
  const std::vector<Entry> ana = {{"user", "ana"}};
  EXPECT_EQ(AskOn(limiter_, {ana}, {Hits(7)}).statuses[0].remaining, 3u);
  EXPECT_FALSE(AskOn(limiter_, {ana}, {Hits(7)}).allowed());
  EXPECT_TRUE(AskOn(limiter_, {ana}, {Hits(3)}).allowed())
      << "there over, since 14 were counted";
  const Decision probe = AskOn(limiter_, {ana}, {Hits(0)});
  EXPECT_TRUE(probe.allowed()) << "count == L still says OK";
  EXPECT_EQ(probe.statuses[0].remaining, 0u);
  EXPECT_EQ(probe.statuses[0].action, BucketAction::kProbe);
  EXPECT_TRUE(AskOn(limiter_, {ana}, {GiveBack(4)}).allowed());
  EXPECT_EQ(Remaining(limiter_, ana), 4u);
  EXPECT_TRUE(AskOn(limiter_, {ana}, {GiveBack(100)}).allowed());
  EXPECT_EQ(Remaining(limiter_, ana), 10u) << "never above the capacity";
}

TEST_F(DescriptorRules, ZeroRequestsPerUnitRefusesEverythingForEver) {
  SetRules(limiter_, {NodeAt({{"user", ""}}, {Written(0)}),
                      NodeAt({{"site", ""}}, {Written(5)})});
  const std::vector<Entry> ana = {{"user", "ana"}};
  const Decision decision = AskAll(limiter_, {{{"site", "s"}}, ana});
  EXPECT_EQ(decision.outcome, Outcome::kImpossible);
  const RuleStatus& status = decision.statuses.at(1);
  EXPECT_TRUE(status.refuses_all);
  EXPECT_EQ(status.remaining, 0u);
  EXPECT_EQ(status.reset_after_ns, 60 * kSecond);
  EXPECT_EQ(ToEnvoyLimit(status).requests_per_unit, 0u);
  EXPECT_EQ(ToEnvoyLimit(status).unit, LimitUnit::kMinute);
  EXPECT_EQ(Remaining(limiter_, {{"site", "s"}}), 5u);
  EXPECT_TRUE(AskOn(limiter_, {ana}, {Hits(0)}).allowed()) << "0 is not over 0";
  EXPECT_EQ(limiter_.bucket_count(), 0u) << "everything is only looked at";
}

TEST_F(DescriptorRules, UnlimitedIsAnAnswerThatTakesNothing) {
  NodeLimit unlimited;
  unlimited.unlimited = true;
  SetRules(limiter_, {NodeAt({{"user", ""}}, {unlimited})});
  const Decision decision =
      AskOn(limiter_, {{{"user", "ana"}}}, {Hits(kMaxCost)});
  EXPECT_TRUE(decision.allowed());
  ASSERT_THAT(decision.statuses, SizeIs(1));
  EXPECT_TRUE(decision.statuses[0].unlimited);
  EXPECT_EQ(limiter_.bucket_count(), 0u);
}

TEST_F(DescriptorRules, AListOfLimitsMustAllowAll) {
  SetRules(limiter_, {NodeAt({{"user", ""}}, {Written(2, LimitUnit::kSecond),
                                              Written(3, LimitUnit::kDay)})});
  const std::vector<Entry> ana = {{"user", "ana"}};
  EXPECT_TRUE(AskFor(limiter_, ana, 2).allowed());
  EXPECT_FALSE(AskFor(limiter_, ana).allowed());
  clock_.Advance(kSecond);
  const Decision refused = AskFor(limiter_, ana, 2);
  EXPECT_FALSE(refused.allowed());
  ASSERT_THAT(refused.statuses, SizeIs(2));
  EXPECT_EQ(refused.statuses[0].outcome, Outcome::kAllowed);
  EXPECT_EQ(refused.statuses[0].remaining, 2u) << "given back";
  EXPECT_TRUE(AskFor(limiter_, ana).allowed());
}

TEST_F(DescriptorRules, AShadowRuleIsOverAndRefusesNobody) {
  Rule shadow = NodeAt({{"user", ""}}, {Written(1)});
  shadow.mode = Mode::kShadow;
  SetRules(limiter_, {shadow, NodeAt({{"site", ""}}, {Written(5)})});
  const std::vector<Entry> site = {{"site", "s"}};
  const std::vector<Entry> ana = {{"user", "ana"}};
  EXPECT_TRUE(AskAll(limiter_, {ana, site}).allowed());
  const Decision over = AskAll(limiter_, {ana, site});
  EXPECT_TRUE(over.allowed());
  EXPECT_TRUE(over.statuses[0].shadow);
  EXPECT_EQ(over.statuses[0].outcome, Outcome::kRefused);
  EXPECT_EQ(over.statuses[1].remaining, 3u);
}

NodeLimit Named(uint64_t requests_per_unit, std::string name,
                std::vector<std::string> replaces = {}) {
  NodeLimit limit = Written(requests_per_unit);
  limit.name = std::move(name);
  limit.replaces = std::move(replaces);
  return limit;
}

TEST_F(DescriptorRules, ReplacesDropsOtherLimitsOfTheSameRequest) {
  NodeLimit unlimited;
  unlimited.unlimited = true;
  unlimited.replaces = {"a"};
  SetRules(limiter_, {NodeAt({{"k", "a"}}, {Named(1, "a")}),
                      NodeAt({{"k", "b"}}, {Named(5, "b", {"a"})}),
                      NodeAt({{"k", "c"}}, {Named(5, "c", {"b"})}),
                      NodeAt({{"k", "u"}}, {unlimited})});
  const std::vector<Entry> a = {{"k", "a"}};
  const std::vector<Entry> b = {{"k", "b"}};
  const std::vector<Entry> c = {{"k", "c"}};
  const std::vector<Entry> u = {{"k", "u"}};
  for (int i = 0; i < 2; ++i) {
    const Decision decision = AskAll(limiter_, {a, b, c});
    EXPECT_TRUE(decision.allowed());
    ASSERT_THAT(decision.statuses, SizeIs(3));
    EXPECT_EQ(decision.statuses[0].action, BucketAction::kNone)
        << "also by one that is replaced itself";
    EXPECT_EQ(decision.statuses[1].action, BucketAction::kNone);
    EXPECT_EQ(decision.statuses[2].action, BucketAction::kTake);
    EXPECT_TRUE(AskAll(limiter_, {a, u}).allowed()) << "by an unlimited one";
  }
  EXPECT_EQ(Remaining(limiter_, a), 1u) << "not counted";
  EXPECT_EQ(Remaining(limiter_, b), 5u);
  EXPECT_EQ(Remaining(limiter_, c), 3u);
  EXPECT_TRUE(AskFor(limiter_, a).allowed());
  EXPECT_FALSE(AskFor(limiter_, a).allowed()) << "only in the same request";
}

TEST_F(DescriptorRules, RulesWithNodesAndOthersDoNotShareADomain) {
  EXPECT_THAT(RuleSet::Create({MakeRule("native", {"user"}, {PerSecond(1)}),
                               NodeAt({{"user", ""}}, {Written(1)})})
                  .status()
                  .message(),
              HasSubstr("has native rules and Envoy-format ones"));
}

TEST_F(DescriptorRules, AReloadKeepsWhatIsSpentWherePathAndAlgorithmStay) {
  const std::vector<Entry> ana = {{"user", "ana"}};
  SetRules(limiter_, {NodeAt({{"user", ""}}, {Written(10)})});
  EXPECT_TRUE(AskFor(limiter_, ana, 8).allowed());
  SetRules(limiter_, {NodeAt({{"x", ""}}, {Written(1)}),
                      NodeAt({{"user", ""}}, {Written(20)})});
  EXPECT_EQ(Remaining(limiter_, ana), 12u);
  SetRules(limiter_, {NodeAt({{"user", ""}}, {Written(5)})});
  EXPECT_EQ(Remaining(limiter_, ana), 0u);
  SetRules(limiter_, {NodeAt({{"user", ""}}, {Written(5)}, FixedWindow())});
  EXPECT_EQ(Remaining(limiter_, ana), 5u)
      << "another algorithm, another bucket";
}

TEST_F(DescriptorRules, RefundAndResetFindTheSameBuckets) {
  const std::vector<Entry> ana = {{"user", "ana"}};
  SetRules(limiter_, {NodeAt({{"user", ""}}, {Written(10)})});
  EXPECT_TRUE(AskAll(limiter_, {ana, ana}, 3).allowed());
  const std::vector<Descriptor> views = {ana, ana};
  const Decision back = limiter_.Refund(Request{"shop", views, 2}, kStart);
  EXPECT_THAT(back.statuses, SizeIs(2));
  EXPECT_EQ(Remaining(limiter_, ana), 8u) << "twice, as it was taken";
  EXPECT_EQ(limiter_.Reset(Request{"shop", views}, "user"), 2u);
  EXPECT_EQ(Remaining(limiter_, ana), 10u);
}

// --envoy-algorithm=fixed_window: the numbers of counters in windows aligned to
// the epoch.
TEST_F(DescriptorRules, FixedWindowsCountAsCountersDo) {
  SetRules(limiter_, {NodeAt({{"user", ""}}, {Written(3)}, FixedWindow())});
  const std::vector<Entry> ana = {{"user", "ana"}};
  constexpr int64_t kWindow = 1'700'000'040 * kSecond;  // a whole minute
  struct Step {
    int64_t at_ns;
    uint64_t hits;
    bool allowed;
    uint64_t remaining;
    int64_t reset_s;
  };
  for (const Step& step : std::vector<Step>{
           {kWindow, 1, true, 2, 60},
           {kWindow + 20 * kSecond, 1, true, 1, 40},
           {kWindow + 59 * kSecond, 1, true, 0, 1},
           {kWindow + 59 * kSecond, 1, false, 0, 1},
           {kWindow + 60 * kSecond, 3, true, 0, 60},  // the edge: 2x at once
           {kWindow + 61 * kSecond, 1, false, 0, 59},
           {kWindow + 120 * kSecond, 2, true, 1, 60},
           {kWindow + 121 * kSecond, 2, false, 1, 59},  // there: counted
           {kWindow + 121 * kSecond, 1, true, 0, 59},   // there: over
       }) {
    clock_.Set(step.at_ns);
    const Decision decision = AskFor(limiter_, ana, step.hits);
    SCOPED_TRACE(step.at_ns - kWindow);
    EXPECT_EQ(decision.allowed(), step.allowed);
    EXPECT_EQ(decision.statuses[0].remaining, step.remaining);
    EXPECT_EQ(decision.statuses[0].reset_after_ns, step.reset_s * kSecond);
  }
  EXPECT_TRUE(AskOn(limiter_, {ana}, {GiveBack(100)}).allowed());
  EXPECT_EQ(Remaining(limiter_, ana), 3u) << "floor 0, in this window";
}

// The default is a token bucket: no double limit at an edge.
TEST_F(DescriptorRules, TokenBucketsLetNothingThroughTwiceAtAnEdge) {
  SetRules(limiter_, {NodeAt({{"user", ""}}, {Written(3)})});
  const std::vector<Entry> ana = {{"user", "ana"}};
  constexpr int64_t kWindow = 1'700'000'040 * kSecond;
  clock_.Set(kWindow + 59 * kSecond);
  EXPECT_TRUE(AskFor(limiter_, ana, 3).allowed());
  clock_.Set(kWindow + 60 * kSecond);
  const Decision decision = AskFor(limiter_, ana, 1);
  EXPECT_FALSE(decision.allowed());
  EXPECT_EQ(decision.retry_after_ns, 19 * kSecond);
}

}  // namespace
}  // namespace tollgate
