// Delays and slots in decisions; Refund, Release and Reset.
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "server/base/clock.h"
#include "server/limiter/limiter.h"
#include "tests/limiter/ask.h"
#include "tests/limiter/limits.h"

namespace tollgate {
namespace {

Rule With(const char* algorithm, Rule rule) {
  rule.algorithm = FindAlgorithm(algorithm);
  return rule;
}

class GiveBackTest : public testing::Test {
 protected:
  static Rule Exports(uint64_t slots, const std::string& name = "export") {
    return With("concurrency", MakeRule(name, {"user"},
                                        {MakeLimit(slots, absl::Seconds(30))}));
  }
  Decision Try(uint64_t cost = 1) { return AskFor(limiter_, ana_, cost); }
  Decision Refund(uint64_t cost, int64_t taken_at_ns) {
    const Descriptor view(ana_);
    return limiter_.Refund(Request{"shop", {&view, 1}, cost}, taken_at_ns);
  }
  size_t Reset(absl::string_view rule) {
    const Descriptor view(ana_);
    return limiter_.Reset(Request{"shop", {&view, 1}}, rule);
  }

  const std::vector<Entry> ana_ = {{"user", "ana"}};
  FakeClock clock_{kStart};
  Limiter limiter_{clock_};
};

TEST_F(GiveBackTest, ADecisionHasTheLongestDelayOfItsEnforcedRules) {
  const auto leaky = [](const std::string& name, uint64_t rate) {
    return With("leaky_bucket",
                MakeRule(name, {"user"},
                         {Holding(PerSecond(rate, 1), absl::Seconds(10))}));
  };
  Rule shadow = leaky("shadow", 1);
  shadow.mode = Mode::kShadow;
  SetRules(limiter_, {leaky("ten", 10), leaky("two", 2), shadow});

  EXPECT_EQ(Try().delay_ns, 0);
  const Decision second = Try();
  EXPECT_TRUE(second.allowed());
  EXPECT_EQ(second.delay_ns, 500 * kMilli);
  EXPECT_EQ(second.statuses.at(0).delay_ns, 100 * kMilli);
  EXPECT_EQ(second.statuses.at(1).delay_ns, 500 * kMilli);
  EXPECT_EQ(second.statuses.at(2).delay_ns, kSecond);
}

TEST_F(GiveBackTest, ARefusalHasNoDelayAndTakesNoPlaceInTheQueue) {
  SetRules(limiter_,
           {With("leaky_bucket",
                 MakeRule("leaky", {"user"},
                          {Holding(PerSecond(10, 1), absl::Seconds(10))})),
            MakeRule("two", {"user"}, {PerHour(2)})});
  Try();
  ASSERT_EQ(Try().delay_ns, 100 * kMilli);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(Try().delay_ns, 0);

  EXPECT_EQ(Try().statuses.at(0).delay_ns, 200 * kMilli);
}

TEST_F(GiveBackTest, AnAllowedRequestHoldsASlotUntilItsRelease) {
  SetRules(limiter_, {Exports(2)});
  const Decision first = Try();
  ASSERT_EQ(first.slots.size(), 1u);
  ASSERT_TRUE(Try().allowed());
  const Decision refused = Try();
  EXPECT_EQ(refused.outcome, Outcome::kRefused);
  EXPECT_TRUE(refused.slots.empty());

  EXPECT_TRUE(limiter_.Release(first.slots[0]));
  EXPECT_TRUE(limiter_.Release(first.slots[0]));  // idempotent
  EXPECT_TRUE(Try().allowed());
  EXPECT_FALSE(Try().allowed());
  EXPECT_TRUE(limiter_.Release(first.slots[0]));  // frees no other's
  EXPECT_FALSE(Try().allowed());
}

TEST_F(GiveBackTest, ASlotThatNobodyReleasesExpires) {
  SetRules(limiter_, {Exports(1)});
  const Decision first = Try();
  EXPECT_EQ(Try().retry_after_ns, 30 * kSecond);

  clock_.Advance(30 * kSecond - 1);
  EXPECT_FALSE(Try().allowed());
  clock_.Advance(1);
  EXPECT_TRUE(Try().allowed());
  limiter_.Release(first.slots.at(0));  // late
  EXPECT_FALSE(Try().allowed());
}

TEST_F(GiveBackTest, EveryConcurrencyRuleGivesASlot) {
  SetRules(limiter_, {Exports(2, "a"), MakeRule("t", {"user"}, {PerHour(9)}),
                      Exports(2, "b")});

  const Decision decision = Try();

  ASSERT_EQ(decision.slots.size(), 2u);
  EXPECT_NE(decision.slots[0].fingerprint, decision.slots[1].fingerprint);
  limiter_.Release(decision.slots[1]);
  EXPECT_EQ(Try(0).statuses.at(0).remaining, 1u);
  EXPECT_EQ(Try(0).statuses.at(2).remaining, 2u);
}

TEST_F(GiveBackTest, AnotherRulesRefusalGivesTheSlotBack) {
  SetRules(limiter_, {Exports(5), MakeRule("one", {"user"}, {PerHour(1)})});
  ASSERT_TRUE(Try().allowed());
  for (int i = 0; i < 20; ++i) ASSERT_FALSE(Try().allowed());

  EXPECT_EQ(Try(0).statuses.at(0).remaining, 4u);
}

TEST_F(GiveBackTest, APeekHoldsNothing) {
  SetRules(limiter_, {Exports(1)});

  EXPECT_TRUE(Try(0).slots.empty());
  EXPECT_EQ(limiter_.bucket_count(), 0u);
}

TEST_F(GiveBackTest, AShadowRulesSlotIsHeldAndReleasedToo) {
  Rule shadow = Exports(1);
  shadow.mode = Mode::kShadow;
  SetRules(limiter_, {shadow});
  const Decision first = Try();
  ASSERT_EQ(first.slots.size(), 1u);
  EXPECT_TRUE(Try().slots.empty());  // let through without

  limiter_.Release(first.slots[0]);
  EXPECT_EQ(Try().slots.size(), 1u);
}

TEST_F(GiveBackTest, AReleaseOfNothingIsFalse) {
  SetRules(limiter_, {MakeRule("t", {"user"}, {PerHour(9)})});
  ASSERT_TRUE(Try(9).allowed());

  EXPECT_FALSE(limiter_.Release(HeldSlots{{1, 2}, 3}));
  EXPECT_EQ(Remaining(limiter_, ana_), 0u);
}

TEST_F(GiveBackTest, ASlotIsReleasedAfterItsRuleIsGoneAndBack) {
  SetRules(limiter_, {Exports(1)});
  const Decision held = Try();
  SetRules(limiter_, {});
  EXPECT_TRUE(limiter_.Release(held.slots.at(0)));
  SetRules(limiter_, {Exports(1)});

  EXPECT_TRUE(Try().allowed());
}

TEST_F(GiveBackTest, ARefundGivesTokensBackButNoSlots) {
  SetRules(limiter_, {MakeRule("t", {"user"}, {PerHour(100)}), Exports(5)});
  const Decision taken = Try(5);
  ASSERT_TRUE(taken.allowed());

  const Decision after = Refund(3, taken.decided_at_ns);

  ASSERT_EQ(after.statuses.size(), 2u);
  EXPECT_EQ(after.statuses[0].remaining, 98u);
  EXPECT_EQ(after.statuses[1].remaining, 0u);
}

TEST_F(GiveBackTest, ARefundIsMultipliedByTheRulesCost) {
  Rule search = MakeRule("search", {"user"}, {PerHour(100)});
  search.cost = 10;
  SetRules(limiter_, {search});
  ASSERT_TRUE(Try(7).allowed());

  EXPECT_EQ(Refund(2, kStart).statuses.at(0).remaining, 50u);
  EXPECT_EQ(Refund(100, kStart).statuses.at(0).remaining, 50u);  // impossible
  EXPECT_EQ(Refund(10, kStart).statuses.at(0).remaining, 100u);  // at most
}

TEST_F(GiveBackTest, ARefundOfAWindowThatIsOverGivesNothing) {
  SetRules(limiter_,
           {With("fixed_window", MakeRule("day", {"user"}, {PerHour(10)}))});
  const Decision taken = Try(10);
  clock_.Advance(3600 * kSecond);
  ASSERT_TRUE(Try(10).allowed());

  EXPECT_EQ(Refund(10, taken.decided_at_ns).statuses.at(0).remaining, 0u);
}

TEST_F(GiveBackTest, ARefundOfWhatNobodyTookCreatesNothing) {
  SetRules(limiter_, {MakeRule("t", {"user"}, {PerHour(100)})});

  EXPECT_EQ(Refund(3, kStart).statuses.at(0).remaining, 100u);
  EXPECT_EQ(limiter_.bucket_count(), 0u);
}

TEST_F(GiveBackTest, AResetFillsEveryBucketOfTheRequest) {
  Rule punishing = MakeRule("login", {"user"}, {PerHour(1), PerMinute(1)});
  punishing.penalty = PenaltyRule{Holding(PerMinute(1), absl::Hours(1))};
  SetRules(limiter_,
           {MakeRule("t", {"user"}, {PerHour(1)}), punishing,
            With("sliding_log", MakeRule("log", {"user"}, {PerHour(1)})),
            Exports(1)});
  ASSERT_TRUE(Try().allowed());
  for (int i = 0; i < 3; ++i) ASSERT_FALSE(Try().allowed());

  EXPECT_EQ(Reset(""), 5u);

  const Decision after = Try();
  EXPECT_TRUE(after.allowed());
  EXPECT_EQ(after.slots.size(), 1u);
}

TEST_F(GiveBackTest, AResetMayBeOfOneRule) {
  SetRules(limiter_, {MakeRule("a", {"user"}, {PerHour(10)}),
                      MakeRule("b", {"user"}, {PerHour(10)})});
  ASSERT_TRUE(Try(4).allowed());

  EXPECT_EQ(Reset("b"), 1u);
  EXPECT_EQ(Reset("c"), 0u);

  EXPECT_EQ(Try(0).statuses.at(0).remaining, 6u);
  EXPECT_EQ(Try(0).statuses.at(1).remaining, 10u);
}

TEST_F(GiveBackTest, AResetOfNothingIsZero) {
  EXPECT_EQ(Reset(""), 0u);
  SetRules(limiter_, {MakeRule("a", {"user"}, {PerHour(10)})});
  EXPECT_EQ(Reset(""), 0u);
}

TEST_F(GiveBackTest, ALimiterThatIsSweptInPartFreesTheRest) {
  // Under the leak checker: what a sweep left in the middle of a stripe.
  LimiterOptions options;
  options.stripes = 1;
  Limiter limiter(clock_, options);
  SetRules(limiter, {Exports(5)});
  for (int i = 0; i < 20; ++i) {
    const std::string user = std::to_string(i);
    ASSERT_TRUE(AskFor(limiter, {{"user", user}}).allowed());
  }
  limiter.Sweep(7);
}

}  // namespace
}  // namespace tollgate
