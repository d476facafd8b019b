// Rules with a tier: limits by an entry's value, one bucket across them.
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "server/base/clock.h"
#include "server/limiter/limiter.h"
#include "tests/limiter/ask.h"
#include "tests/limiter/limits.h"

namespace tollgate {
namespace {

class TierTest : public testing::Test {
 protected:
  static Rule ByPlan(const std::string& fallback) {
    Rule rule = MakeRule("by-plan", {"user"}, {});
    rule.tier = Tier{"plan",
                     {{"free", {PerMinute(60)}}, {"paid", {PerMinute(600)}}},
                     fallback};
    return rule;
  }
  Decision As(absl::string_view plan, uint64_t cost) {
    return AskFor(limiter_, {{"user", "ana"}, {"plan", plan}}, cost);
  }
  uint64_t LeftAs(absl::string_view plan) {
    return Remaining(limiter_, {{"user", "ana"}, {"plan", plan}});
  }

  FakeClock clock_{kStart};
  Limiter limiter_{clock_};
};

TEST_F(TierTest, TakesTheLimitOfTheTierThatTheEntryNames) {
  SetRules(limiter_, {ByPlan("free")});

  const Decision paid = As("paid", 1);
  EXPECT_EQ(paid.statuses.at(0).limit, PerMinute(600));
  EXPECT_EQ(paid.statuses.at(0).remaining, 599u);
  const Decision free =
      AskFor(limiter_, {{"user", "bob"}, {"plan", "free"}}, 60);
  EXPECT_EQ(free.statuses.at(0).limit, PerMinute(60));
  EXPECT_EQ(free.statuses.at(0).remaining, 0u);
}

TEST_F(TierTest, TakesTheDefaultWhereTheEntryIsMissingOrUnknown) {
  SetRules(limiter_, {ByPlan("free")});

  EXPECT_EQ(As("gold", 0).statuses.at(0).limit, PerMinute(60));
  EXPECT_EQ(AskFor(limiter_, {{"user", "ana"}}).statuses.at(0).limit,
            PerMinute(60));
}

TEST_F(TierTest, DoesNotApplyWithoutADefault) {
  SetRules(limiter_, {ByPlan("")});

  EXPECT_TRUE(As("gold", 1'000).statuses.empty());
  EXPECT_TRUE(AskFor(limiter_, {{"user", "ana"}}, 1'000).statuses.empty());
  EXPECT_EQ(limiter_.bucket_count(), 0u);
  EXPECT_EQ(As("free", 1).statuses.size(), 1u);
}

TEST_F(TierTest, AnUpgradeIsNotAFreshBurst) {
  SetRules(limiter_, {ByPlan("free")});
  ASSERT_TRUE(As("free", 60).allowed());
  ASSERT_FALSE(As("free", 1).allowed());

  EXPECT_EQ(LeftAs("paid"), 540u);
  EXPECT_TRUE(As("paid", 540).allowed());
  EXPECT_FALSE(As("paid", 1).allowed());
  EXPECT_EQ(limiter_.bucket_count(), 1u);
}

TEST_F(TierTest, ADowngradeIsFullySpentIfMoreWasSpent) {
  SetRules(limiter_, {ByPlan("free")});
  ASSERT_TRUE(As("paid", 59).allowed());
  EXPECT_EQ(LeftAs("free"), 1u);
  ASSERT_TRUE(As("paid", 2).allowed());

  EXPECT_EQ(LeftAs("free"), 0u);
  const Decision refused = As("free", 1);
  EXPECT_EQ(refused.outcome, Outcome::kRefused);
  EXPECT_EQ(refused.retry_after_ns, kSecond);
}

TEST_F(TierTest, RefusalsInALowerTierForgetNothing) {
  for (const char* name : {"token_bucket", "leaky_bucket", "fixed_window",
                           "sliding_window", "sliding_log", "concurrency"}) {
    SCOPED_TRACE(name);
    Rule rule = ByPlan("free");
    rule.name = name;
    rule.algorithm = FindAlgorithm(name);
    if (rule.name == "leaky_bucket") {
      for (auto& [tier, limits] : rule.tier->limits) {
        limits[0] = Holding(limits[0], absl::Nanoseconds(1));
      }
    }
    Limiter limiter(clock_);
    SetRules(limiter, {rule});
    const auto as = [&](absl::string_view plan, uint64_t cost) {
      return AskFor(limiter, {{"user", "ana"}, {"plan", plan}}, cost).allowed();
    };
    ASSERT_TRUE(as("paid", 500));

    for (int i = 0; i < 10; ++i) ASSERT_FALSE(as("free", 1));

    EXPECT_FALSE(as("paid", 101));
    EXPECT_TRUE(as("paid", 100));
    EXPECT_FALSE(as("paid", 1));
  }
}

TEST_F(TierTest, SeveralLimitsOfATierMustAllAllow) {
  Rule rule = ByPlan("free");
  rule.tier->limits = {{"free", {PerMinute(10), PerHour(12)}},
                       {"paid", {PerMinute(20), PerHour(30)}}};
  SetRules(limiter_, {rule});
  ASSERT_TRUE(As("free", 10).allowed());
  clock_.Advance(60 * kSecond);  // all of the minute, a fifth of the hour's

  EXPECT_FALSE(As("free", 3).allowed());
  EXPECT_TRUE(As("free", 2).allowed());
  const Decision paid = As("paid", 0);
  EXPECT_EQ(paid.statuses.at(0).remaining, 18u);
  EXPECT_EQ(paid.statuses.at(1).remaining, 18u);
}

TEST_F(TierTest, AReloadOfATierKeepsWhatIsSpent) {
  SetRules(limiter_, {ByPlan("free")});
  ASSERT_TRUE(As("paid", 500).allowed());
  Rule raised = ByPlan("free");
  raised.tier->limits[1].second = {PerMinute(1000)};

  SetRules(limiter_, {raised});

  EXPECT_EQ(LeftAs("paid"), 500u);
}

}  // namespace
}  // namespace tollgate
