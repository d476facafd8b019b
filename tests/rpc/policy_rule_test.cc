#include "server/rpc/policy_rule.h"

#include "gtest/gtest.h"

namespace tollgate {
namespace {

Rule Login() {
  Rule rule;
  rule.domain = "shop";
  rule.name = "login";
  rule.match = {{"path", {Pattern::Exact("a*"), Pattern::Parse("b*")}}};
  rule.key = {
      {{{"user", std::nullopt}, {"ip", AddressPrefix{.v4 = 24, .v6 = 48}}}}};
  rule.limits = {*Limit::Create(5, absl::Nanoseconds(1'500'000'001), 7)
                      ->WithHold(absl::Nanoseconds(2'000'000'003))};
  rule.algorithm = FindAlgorithm("leaky_bucket");
  rule.cost = 3;
  rule.enforce_percent = 25;
  return rule;
}

TEST(ToPolicyRule, SaysWhatAClientNeedsOfARule) {
  v1::PolicyRule out;
  ToPolicyRule(Login(), out);
  EXPECT_EQ(out.domain(), "shop");
  EXPECT_EQ(out.name(), "login");
  EXPECT_EQ(out.on_outage(), v1::OUTAGE_BACKSTOP);
  EXPECT_EQ(out.match(0).key(), "path");
  EXPECT_EQ(out.match(0).any_of(0).text(), "a*");
  EXPECT_FALSE(out.match(0).any_of(0).wildcard());
  EXPECT_EQ(out.match(0).any_of(1).text(), "b*");
  EXPECT_TRUE(out.match(0).any_of(1).wildcard());
  EXPECT_EQ(out.key(0).alternatives(0).entry(), "user");
  EXPECT_FALSE(out.key(0).alternatives(0).has_prefix());
  EXPECT_EQ(out.key(0).alternatives(1).prefix().v4(), 24);
  EXPECT_EQ(out.key(0).alternatives(1).prefix().v6(), 48);
  EXPECT_EQ(out.algorithm(), "leaky_bucket");
  EXPECT_EQ(out.limits(0).limit().tokens(), 5);
  EXPECT_EQ(out.limits(0).limit().burst(), 7);
  EXPECT_EQ(out.limits(0).limit().period().seconds(), 1);
  EXPECT_EQ(out.limits(0).limit().period().nanos(), 500'000'001);
  EXPECT_EQ(out.limits(0).max_delay().seconds(), 2);
  EXPECT_EQ(out.limits(0).max_delay().nanos(), 3);
  EXPECT_EQ(out.cost(), 3);
  EXPECT_EQ(out.enforce_percent(), 25);
}

TEST(ToPolicyRule, SaysNoMoreOfARuleThatDoesNotLimitInAnOutage) {
  Rule allow = Login();
  allow.on_outage = OutagePolicy::kAllow;
  Rule shadow = Login();
  shadow.mode = Mode::kShadow;
  shadow.on_outage = OutagePolicy::kRefuse;
  for (const Rule& rule : {allow, shadow}) {
    v1::PolicyRule out;
    ToPolicyRule(rule, out);
    EXPECT_EQ(out.on_outage(), v1::OUTAGE_ALLOW);
    EXPECT_EQ(out.name(), "login");
    EXPECT_EQ(out.match_size(), 0);
    EXPECT_EQ(out.limits_size(), 0);
  }
}

TEST(ToPolicyRule, SaysThePenaltyTheReserveAndTheShareOfTheOverflow) {
  Rule rule = Login();
  rule.penalty = PenaltyRule{*Limit::Create(9, absl::Seconds(8), 7)
                                  ->WithHold(absl::Nanoseconds(1'000'000'005))};
  rule.reserve = Reserve{"class", {{"high", 0}, {"low", 20}}, "low"};
  rule.overflow_percent = 250;
  v1::PolicyRule out;
  ToPolicyRule(rule, out);
  EXPECT_EQ(out.penalty().after().tokens(), 9);
  EXPECT_EQ(out.penalty().after().period().seconds(), 8);
  EXPECT_EQ(out.penalty().after().burst(), 7);
  EXPECT_EQ(out.penalty().block().seconds(), 1);
  EXPECT_EQ(out.penalty().block().nanos(), 5);
  EXPECT_EQ(out.reserve().entry(), "class");
  ASSERT_EQ(out.reserve().shares_size(), 2);
  EXPECT_EQ(out.reserve().shares(1).name(), "low");
  EXPECT_EQ(out.reserve().shares(1).percent(), 20);
  EXPECT_EQ(out.reserve().fallback(), "low");
  EXPECT_EQ(out.overflow_percent(), 250);

  rule.on_outage = OutagePolicy::kRefuse;
  out.Clear();
  ToPolicyRule(rule, out);
  EXPECT_FALSE(out.has_penalty()) << "nobody is to be blamed for an outage";
  EXPECT_FALSE(out.has_reserve());
}

TEST(ToPolicyNode, SaysAllButTheMetadata) {
  Rule rule;
  rule.domain = "edge";
  rule.name = "path_/a*";
  rule.algorithm = FindAlgorithm("fixed_window");
  rule.mode = Mode::kShadow;
  rule.limits = {*Limit::Create(30, absl::Minutes(5))};
  NodeLimit charged;
  charged.requests_per_unit = 30;
  charged.unit = LimitUnit::kMinute;
  charged.unit_multiplier = 5;
  charged.name = "general";
  NodeLimit none;
  none.unit = LimitUnit::kWeek;
  NodeLimit unlimited;
  unlimited.unlimited = true;
  unlimited.replaces = {"general", "other"};
  rule.node =
      NodeRule{{{"path", "/a*", true}}, {unlimited, charged, none}, true, "{}"};
  v1::PolicyNode out;
  ToPolicyNode(rule, out);
  EXPECT_EQ(out.domain(), "edge");
  EXPECT_EQ(out.name(), "path_/a*");
  EXPECT_EQ(out.algorithm(), "fixed_window");
  EXPECT_TRUE(out.shadow());
  EXPECT_TRUE(out.quota_mode());
  ASSERT_EQ(out.path_size(), 1);
  EXPECT_EQ(out.path(0).key(), "path");
  EXPECT_EQ(out.path(0).value(), "/a*");
  EXPECT_TRUE(out.path(0).share());
  ASSERT_EQ(out.limits_size(), 3);
  EXPECT_TRUE(out.limits(0).unlimited());
  EXPECT_FALSE(out.limits(0).has_limit());
  EXPECT_EQ(out.limits(0).replaces(1), "other");
  EXPECT_EQ(out.limits(1).limit().tokens(), 30);
  EXPECT_EQ(out.limits(1).limit().period().seconds(), 300);
  EXPECT_EQ(out.limits(1).name(), "general");
  EXPECT_EQ(out.limits(1).unit(), 2);
  EXPECT_EQ(out.limits(1).unit_multiplier(), 5);
  EXPECT_FALSE(out.limits(2).unlimited());
  EXPECT_FALSE(out.limits(2).has_limit());
  EXPECT_EQ(out.limits(2).unit(), 7);
}

TEST(ToPolicyRule, SaysTheLimitsOfEachTierAndWhatAnAllowListSkips) {
  Rule tiered = Login();
  tiered.on_outage = OutagePolicy::kRefuse;
  tiered.tier = Tier{"plan", {{"free", tiered.limits}}, "free"};
  tiered.limits.clear();
  v1::PolicyRule out;
  ToPolicyRule(tiered, out);
  EXPECT_EQ(out.on_outage(), v1::OUTAGE_REFUSE);
  EXPECT_EQ(out.limits_size(), 0);
  EXPECT_EQ(out.tier().entry(), "plan");
  EXPECT_EQ(out.tier().fallback(), "free");
  EXPECT_EQ(out.tier().limits(0).name(), "free");
  EXPECT_EQ(out.tier().limits(0).limits(0).limit().tokens(), 5);

  Rule staff;
  staff.domain = "shop";
  staff.name = "staff";
  staff.unlimited = true;
  staff.skips = {"login"};
  out.Clear();
  ToPolicyRule(staff, out);
  EXPECT_TRUE(out.unlimited());
  EXPECT_EQ(out.skips(0), "login");
  EXPECT_EQ(out.algorithm(), "");
}

}  // namespace
}  // namespace tollgate
