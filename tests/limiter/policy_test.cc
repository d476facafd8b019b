// What a rule says beyond its limit: reserve, penalty, mode, allow-lists.
#include <algorithm>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/base/clock.h"
#include "server/limiter/limiter.h"
#include "tests/limiter/ask.h"
#include "tests/limiter/limits.h"

namespace tollgate {
namespace {

using ::testing::ElementsAre;

class PolicyTest : public testing::Test {
 protected:
  FakeClock clock_{kStart};
  Limiter limiter_{clock_};
};

class ReserveTest : public PolicyTest {
 protected:
  ReserveTest() {
    Rule rule = MakeRule("background", {}, {PerSecond(100)});
    rule.reserve =
        Reserve{"priority", {{"critical", 0}, {"sheddable", 20}}, "sheddable"};
    SetRules(limiter_, {rule});
  }
  Decision As(absl::string_view priority, uint64_t cost) {
    return AskFor(limiter_, {{"priority", priority}}, cost);
  }
};

TEST_F(ReserveTest, TheLastShareIsForTheCritical) {
  EXPECT_TRUE(As("sheddable", 80).allowed());
  const Decision refused = As("sheddable", 1);
  EXPECT_EQ(refused.outcome, Outcome::kRefused);
  EXPECT_EQ(refused.statuses.at(0).remaining, 20u);
  EXPECT_EQ(refused.retry_after_ns, 10 * kMilli);

  EXPECT_TRUE(As("critical", 20).allowed());
  EXPECT_FALSE(As("critical", 1).allowed());
}

TEST_F(ReserveTest, WaitingTheRetryAfterSucceedsAndOneNanosecondLessDoesNot) {
  ASSERT_TRUE(As("critical", 95).allowed());
  const int64_t wait = As("sheddable", 1).retry_after_ns;
  EXPECT_EQ(wait, 160 * kMilli);  // from 5 to 21

  clock_.Advance(wait - 1);
  EXPECT_FALSE(As("sheddable", 1).allowed());
  clock_.Advance(1);
  EXPECT_TRUE(As("sheddable", 1).allowed());
}

TEST_F(ReserveTest, WhoSaysNothingOrSomethingElseIsTheDefault) {
  ASSERT_TRUE(As("critical", 80).allowed());

  EXPECT_FALSE(AskFor(limiter_, {{"user", "ana"}}).allowed());
  EXPECT_FALSE(As("urgent", 1).allowed());
  EXPECT_TRUE(As("critical", 1).allowed());
}

TEST_F(ReserveTest, MoreThanTheShareLeavesIsImpossible) {
  EXPECT_EQ(As("sheddable", 81).outcome, Outcome::kImpossible);
  EXPECT_EQ(As("critical", 100).outcome, Outcome::kAllowed);
}

TEST_F(ReserveTest, WithoutADefaultTheLargestShareIsLeft) {
  Rule rule = MakeRule("r", {}, {PerSecond(10)});
  rule.reserve = Reserve{"priority", {{"high", 10}, {"low", 50}}, ""};
  SetRules(limiter_, {rule});

  EXPECT_TRUE(AskFor(limiter_, {{"x", "y"}}, 5).allowed());
  EXPECT_FALSE(AskFor(limiter_, {{"x", "y"}}, 1).allowed());
  EXPECT_TRUE(As("high", 4).allowed());
  EXPECT_FALSE(As("high", 1).allowed());
}

class PenaltyRuleTest : public PolicyTest {
 protected:
  // Ten a minute; the fourth refusal within a minute blocks for ten minutes.
  static Rule Punishing() {
    Rule rule = MakeRule("login", {"user"}, {PerMinute(10)});
    rule.penalty = PenaltyRule{Holding(PerMinute(3), absl::Minutes(10))};
    return rule;
  }
  Decision Try(uint64_t cost = 1) {
    return AskFor(limiter_, {{"user", "ana"}}, cost);
  }
  static constexpr int64_t kBlock = 600 * kSecond;
};

TEST_F(PenaltyRuleTest, BlocksWithTheRefusalThatIsOverAndForExactlyAsLong) {
  SetRules(limiter_, {Punishing()});
  ASSERT_TRUE(Try(10).allowed());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Try().retry_after_ns, 6 * kSecond);

  EXPECT_EQ(Try().retry_after_ns, kBlock);

  clock_.Advance(60 * kSecond);  // the tokens are back, the block is not over
  EXPECT_EQ(Try().retry_after_ns, kBlock - 60 * kSecond);
  EXPECT_EQ(Try(0).retry_after_ns, kBlock - 60 * kSecond);
  clock_.Advance(kBlock - 60 * kSecond - 1);
  EXPECT_EQ(Try().retry_after_ns, 1);
  clock_.Advance(1);
  EXPECT_TRUE(Try(10).allowed());
  // And it takes as many refusals again.
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Try().retry_after_ns, 6 * kSecond);
  EXPECT_EQ(Try().retry_after_ns, kBlock);
}

TEST_F(PenaltyRuleTest, BlocksOneKeyAlone) {
  SetRules(limiter_, {Punishing()});
  Try(10);
  for (int i = 0; i < 4; ++i) Try();

  EXPECT_TRUE(AskFor(limiter_, {{"user", "bob"}}).allowed());
}

TEST_F(PenaltyRuleTest, PeeksAndImpossibleCostsDoNotCount) {
  SetRules(limiter_, {Punishing()});
  ASSERT_TRUE(Try(10).allowed());
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(Try(0).outcome, Outcome::kRefused);
    EXPECT_EQ(Try(11).outcome, Outcome::kImpossible);
  }

  EXPECT_EQ(Try().retry_after_ns, 6 * kSecond);
}

TEST_F(PenaltyRuleTest, ARefusalByAnotherRuleDoesNotCount) {
  SetRules(limiter_, {Punishing(), MakeRule("all", {}, {PerMinute(1)})});
  ASSERT_TRUE(Try().allowed());
  for (int i = 0; i < 20; ++i) ASSERT_EQ(Try().retry_after_ns, 60 * kSecond);

  EXPECT_EQ(Try().statuses.at(0).outcome, Outcome::kAllowed);
}

TEST_F(PenaltyRuleTest, ABlockTakesNothingFromOtherRules) {
  SetRules(limiter_, {MakeRule("all", {}, {PerMinute(100)}), Punishing()});
  Try(10);
  for (int i = 0; i < 10; ++i) Try();

  EXPECT_EQ(AskFor(limiter_, {{"x", "y"}}, 0).statuses.at(0).remaining, 90u);
}

TEST_F(PenaltyRuleTest, ARefusalBySeveralLimitsCountsOnce) {
  Rule rule = Punishing();
  rule.limits = {PerMinute(10), PerHour(10)};
  SetRules(limiter_, {rule});
  ASSERT_TRUE(Try(10).allowed());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Try().retry_after_ns, 360 * kSecond);

  EXPECT_EQ(Try().retry_after_ns, kBlock);
}

TEST_F(PenaltyRuleTest, ALimitThatAllowsBetweenTwoThatRefuseChangesNothing) {
  Rule rule = Punishing();
  rule.limits = {PerMinute(10), PerSecond(100), PerHour(10)};
  SetRules(limiter_, {rule});
  ASSERT_TRUE(Try(10).allowed());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Try().retry_after_ns, 360 * kSecond);

  EXPECT_EQ(Try().retry_after_ns, kBlock);
}

TEST_F(PenaltyRuleTest, AShadowRuleBlocksNobody) {
  Rule rule = Punishing();
  rule.mode = Mode::kShadow;
  SetRules(limiter_, {rule});
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(Try(5).allowed());

  EXPECT_EQ(Try().statuses.at(0).outcome, Outcome::kRefused);
  EXPECT_EQ(Try().statuses.at(0).retry_after_ns, kBlock);
}

TEST_F(PenaltyRuleTest, ABlockOutlivesASweepAndIsForgottenAfterIt) {
  SetRules(limiter_, {Punishing()});
  Try(10);
  for (int i = 0; i < 4; ++i) Try();

  clock_.Advance(kBlock - 1);
  limiter_.Sweep(100);
  EXPECT_FALSE(Try().allowed());
  clock_.Advance(1);
  limiter_.Sweep(100);
  EXPECT_EQ(limiter_.bucket_count(), 0u);
}

TEST_F(PenaltyRuleTest, AReloadThatLowersTheLimitBlocksAndStaysBlocked) {
  SetRules(limiter_, {Punishing()});
  Try(10);
  for (int i = 0; i < 3; ++i) Try();
  Rule stricter = Punishing();
  stricter.penalty = PenaltyRule{Holding(PerMinute(1), absl::Minutes(5))};
  SetRules(limiter_, {stricter});

  EXPECT_EQ(Try().retry_after_ns, 300 * kSecond);
  clock_.Advance(60 * kSecond);
  EXPECT_EQ(Try().retry_after_ns, 240 * kSecond);
}

class PercentTest : public PolicyTest {
 protected:
  static Rule Enforced(uint32_t percent) {
    Rule rule = MakeRule("trial", {"user"}, {PerHour(1)});
    rule.enforce_percent = percent;
    return rule;
  }
  // Whether the rule is enforced for each of that many users.
  static std::vector<bool> EnforcedFor(Limiter& limiter, int users) {
    std::vector<bool> enforced;
    for (int i = 0; i < users; ++i) {
      const std::string user = "user-" + std::to_string(i);
      enforced.push_back(
          !AskFor(limiter, {{"user", user}}, 0).statuses.at(0).shadow);
    }
    return enforced;
  }
  static int64_t Count(const std::vector<bool>& all) {
    return std::count(all.begin(), all.end(), true);
  }
};

TEST_F(PercentTest, EnforcesForAboutThatShareOfTheKeys) {
  for (const uint32_t percent : {0u, 1u, 25u, 50u, 99u, 100u}) {
    SetRules(limiter_, {Enforced(percent)});
    const int64_t enforced = Count(EnforcedFor(limiter_, 10'000));
    // Five standard deviations of 10,000 draws are at most 250; none at the
    // ends. Keys and hash are fixed, so this comes out the same each time.
    EXPECT_NEAR(static_cast<double>(enforced), percent * 100.0,
                percent % 100 == 0  ? 0
                : percent % 98 == 1 ? 50
                                    : 250)
        << percent;
  }
}

TEST_F(PercentTest, TreatsAKeyTheSameInEveryProcess) {
  Limiter other(clock_);  // with another hash key
  SetRules(limiter_, {Enforced(25)});
  SetRules(other, {Enforced(25)});

  EXPECT_EQ(EnforcedFor(limiter_, 1'000), EnforcedFor(other, 1'000));
}

TEST_F(PercentTest, WhoIsEnforcedStaysSoAsTheShareGrows) {
  std::vector<bool> before(1'000, false);
  for (const uint32_t percent : {10u, 25u, 50u, 100u}) {
    SetRules(limiter_, {Enforced(percent)});
    const std::vector<bool> now = EnforcedFor(limiter_, 1'000);
    for (size_t i = 0; i < now.size(); ++i) EXPECT_TRUE(now[i] || !before[i]);
    before = now;
  }
}

TEST_F(PercentTest, RefusesThoseAloneForWhomItIsEnforced) {
  SetRules(limiter_, {Enforced(50)});
  const std::vector<bool> enforced = EnforcedFor(limiter_, 100);
  for (int i = 0; i < 100; ++i) {
    const std::string user = "user-" + std::to_string(i);
    ASSERT_TRUE(AskFor(limiter_, {{"user", user}}).allowed());
    const Decision second = AskFor(limiter_, {{"user", user}});
    EXPECT_EQ(second.allowed(), !enforced[static_cast<size_t>(i)]) << user;
    EXPECT_EQ(second.statuses.at(0).outcome, Outcome::kRefused);
  }
}

class UnlimitedTest : public PolicyTest {
 protected:
  static Rule Staff(std::vector<std::string> skips) {
    Rule rule;
    rule.domain = "shop";
    rule.name = "staff";
    rule.match = {IsLike("user", {"root", "oncall"})};
    rule.unlimited = true;
    rule.skips = std::move(skips);
    return rule;
  }
  static std::vector<Rule> With(const Rule& staff) {
    return {MakeRule("per-user", {"user"}, {PerHour(1)}), staff,
            MakeRule("all", {}, {PerHour(100)})};
  }
  static std::vector<std::string> Names(const Decision& decision) {
    std::vector<std::string> names;
    for (const RuleStatus& status : decision.statuses) {
      names.push_back(status.rule->name);
    }
    return names;
  }
};

TEST_F(UnlimitedTest, TakesOutAllRulesWithoutSkips) {
  SetRules(limiter_, With(Staff({})));

  for (int i = 0; i < 200; ++i) {
    const Decision decision = AskFor(limiter_, {{"user", "root"}});
    ASSERT_TRUE(decision.allowed());
    ASSERT_THAT(Names(decision), ElementsAre("staff"));
    ASSERT_TRUE(decision.statuses[0].unlimited);
  }
  EXPECT_EQ(limiter_.bucket_count(), 0u);
  EXPECT_THAT(Names(AskFor(limiter_, {{"user", "ana"}})),
              ElementsAre("per-user", "all"));
}

TEST_F(UnlimitedTest, TakesOutTheRulesThatItNames) {
  SetRules(limiter_, With(Staff({"per-user"})));

  for (int i = 0; i < 100; ++i) {
    const Decision decision = AskFor(limiter_, {{"user", "oncall"}});
    ASSERT_TRUE(decision.allowed());
    ASSERT_THAT(Names(decision), ElementsAre("all", "staff"));
  }
  EXPECT_FALSE(AskFor(limiter_, {{"user", "oncall"}}).allowed());
}

TEST_F(UnlimitedTest, AShadowOneIsReportedAndTakesNothingOut) {
  Rule staff = Staff({});
  staff.mode = Mode::kShadow;
  SetRules(limiter_, With(staff));

  const Decision decision = AskFor(limiter_, {{"user", "root"}});
  EXPECT_THAT(Names(decision), ElementsAre("per-user", "all", "staff"));
  EXPECT_TRUE(decision.statuses[2].unlimited);
  EXPECT_TRUE(decision.statuses[2].shadow);
  EXPECT_FALSE(AskFor(limiter_, {{"user", "root"}}).allowed());
}

TEST_F(UnlimitedTest, OneDescriptorLiftsTheRulesForTheWholeRequest) {
  SetRules(limiter_, With(Staff({})));

  const Decision decision =
      AskAll(limiter_, {{{"user", "ana"}}, {{"user", "root"}}}, 50);

  EXPECT_TRUE(decision.allowed());
  EXPECT_THAT(Names(decision), ElementsAre("staff"));
}

TEST_F(PolicyTest, MatchesListsAndWildcards) {
  Rule rule = MakeRule("r", {}, {PerHour(100)});
  rule.match = {IsLike("path", {"/api/*", "*.png", "/login"}),
                IsLike("method", {"POST", "PUT"})};
  SetRules(limiter_, {rule});
  const auto applies = [&](absl::string_view method, absl::string_view path) {
    return !AskFor(limiter_, {{"method", method}, {"path", path}}, 0)
                .statuses.empty();
  };

  EXPECT_TRUE(applies("POST", "/api/v1"));
  EXPECT_TRUE(applies("PUT", "/x.png"));
  EXPECT_TRUE(applies("PUT", "/login"));
  EXPECT_FALSE(applies("GET", "/login"));
  EXPECT_FALSE(applies("PUT", "/logins"));
  // Two values of the list fit: it applies once.
  EXPECT_EQ(AskFor(limiter_, {{"method", "PUT"}, {"path", "/api/x.png"}})
                .statuses.size(),
            1u);
}

class PrefixKeyTest : public PolicyTest {
 protected:
  static Rule PerNetwork(bool with_fallback) {
    Rule rule = MakeRule("per-network", {}, {PerHour(2)});
    KeyPart part{{KeySource{"ip", AddressPrefix{24, 64}}}};
    if (with_fallback) {
      part.alternatives.push_back(KeySource{"user", std::nullopt});
    }
    rule.key = {part};
    return rule;
  }
};

TEST_F(PrefixKeyTest, ANetworkIsOneClientHoweverItIsWritten) {
  SetRules(limiter_, {PerNetwork(false)});
  const std::vector<std::string> networks[] = {
      {"192.0.2.1", "::ffff:192.0.2.99", "64:ff9b::192.0.2.7"},
      {"2001:db8:1:2::1", "2001:DB8:1:2:ffff::", "2001:0db8:1:2:0:0:0:9"}};
  for (const std::vector<std::string>& network : networks) {
    EXPECT_TRUE(AskFor(limiter_, {{"ip", network[0]}}).allowed());
    EXPECT_TRUE(AskFor(limiter_, {{"ip", network[1]}}).allowed());
    EXPECT_FALSE(AskFor(limiter_, {{"ip", network[2]}}).allowed());
  }
  EXPECT_TRUE(AskFor(limiter_, {{"ip", "192.0.3.1"}}).allowed());
  EXPECT_TRUE(AskFor(limiter_, {{"ip", "2001:db8:1:3::1"}}).allowed());
  EXPECT_EQ(limiter_.bucket_count(), 4u);
}

TEST_F(PrefixKeyTest, WhatIsNoAddressFallsToTheNextAlternative) {
  SetRules(limiter_, {PerNetwork(true)});

  const Decision decision =
      AskFor(limiter_, {{"ip", "unknown"}, {"user", "ana"}}, 2);
  EXPECT_EQ(decision.statuses.size(), 1u);
  EXPECT_EQ(decision.bad_addresses, 1u);
  // The same bucket as of one who has no address at all.
  EXPECT_FALSE(AskFor(limiter_, {{"user", "ana"}}).allowed());
  EXPECT_TRUE(AskFor(limiter_, {{"ip", "::1"}, {"user", "ana"}}).allowed());
}

TEST_F(PrefixKeyTest, WithoutAnAlternativeTheRuleDoesNotApply) {
  SetRules(limiter_, {PerNetwork(false)});

  const Decision decision = AskFor(limiter_, {{"ip", "192.0.2.1:80"}});

  EXPECT_TRUE(decision.allowed());
  EXPECT_TRUE(decision.statuses.empty());
  EXPECT_EQ(decision.bad_addresses, 1u);
  EXPECT_EQ(AskFor(limiter_, {{"ip", "192.0.2.1"}}).bad_addresses, 0u);
  EXPECT_EQ(AskFor(limiter_, {{"user", "ana"}}).bad_addresses, 0u);
}

}  // namespace
}  // namespace tollgate
