#include "server/limiter/rule_set.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/limiter/ask.h"
#include "tests/limiter/limits.h"
#include "tests/support/status_matchers.h"

namespace tollgate {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr absl::StatusCode kInvalid = absl::StatusCode::kInvalidArgument;

Rule Named(std::string name, std::string domain = "shop") {
  Rule rule = MakeRule(std::move(name), {"user"}, {PerSecond(10)});
  rule.domain = std::move(domain);
  return rule;
}

const BoundRule& Only(const RuleSet& set, absl::string_view domain = "shop") {
  return set.FindDomain(domain)->rules.at(0);
}

const BoundLimit& OnlyLimit(const RuleSet& set) {
  return Only(set).tiers.at(0).at(0);
}

TEST(RuleSet, IsEmptyByDefault) {
  const RuleSet set;

  EXPECT_EQ(set.size(), 0u);
  EXPECT_EQ(set.FindDomain("shop"), nullptr);
}

TEST(RuleSet, MayHaveNoRules) {
  const absl::StatusOr<RuleSet> set = RuleSet::Create({});

  ASSERT_THAT(set, IsOk());
  EXPECT_EQ(set->size(), 0u);
}

TEST(RuleSet, KeepsTheRulesOfADomainInTheirOrder) {
  const RuleSet set =
      MakeRules({Named("c"), Named("a"), Named("x", "bank"), Named("b")});

  EXPECT_EQ(set.size(), 4u);
  ASSERT_NE(set.FindDomain("shop"), nullptr);
  const std::vector<BoundRule>& rules = set.FindDomain("shop")->rules;
  ASSERT_EQ(rules.size(), 3u);
  EXPECT_EQ(rules[0].rule.name, "c");
  EXPECT_EQ(rules[1].rule.name, "a");
  EXPECT_EQ(rules[2].rule.name, "b");
  EXPECT_EQ(set.FindDomain("bank")->rules.size(), 1u);
  EXPECT_EQ(set.FindDomain("sho"), nullptr);
  EXPECT_EQ(set.FindDomain(""), nullptr);
}

TEST(RuleSet, NamesTheRuleAndTheFieldThatIsBad) {
  Rule bad = Named("bad");
  bad.cost = 0;

  EXPECT_THAT(RuleSet::Create({Named("a"), Named("b"), bad}),
              StatusIs(kInvalid, StartsWith("rules[2].cost: got 0")));
}

TEST(RuleSet, RefusesANameTwiceInADomainAndTakesItInAnother) {
  EXPECT_THAT(RuleSet::Create({Named("a"), Named("b"), Named("a")}),
              StatusIs(kInvalid, AllOf(StartsWith("rules[2].name: "),
                                       HasSubstr("\"a\""))));
  EXPECT_THAT(RuleSet::Create({Named("a"), Named("a", "bank")}), IsOk());
}

TEST(RuleSet, LeavesOutRulesThatAreOffButChecksThem) {
  Rule off = Named("off");
  off.mode = Mode::kOff;
  const RuleSet set = MakeRules({Named("a"), off});
  EXPECT_EQ(set.size(), 1u);

  off.cost = 0;
  EXPECT_THAT(RuleSet::Create({off}),
              StatusIs(kInvalid, StartsWith("rules[0].cost")));
}

TEST(RuleSet, TakesAtMost100000Rules) {
  std::vector<Rule> rules;
  for (int i = 0; i < 100'000; ++i) rules.push_back(Named(std::to_string(i)));
  EXPECT_THAT(RuleSet::Create(rules), IsOk());

  rules.push_back(Named("one more"));
  EXPECT_THAT(RuleSet::Create(std::move(rules)),
              StatusIs(kInvalid, AllOf(StartsWith("rules: got 100001"),
                                       HasSubstr("100000"))));
}

TEST(RuleSetBind, GivesARuleTheSameIdentityAcrossReloads) {
  Registry registry;
  const HashKey key = RandomHashKey();
  RuleSet before = MakeRules({Named("a"), Named("b")});
  RuleSet after = MakeRules({Named("b")});

  ASSERT_THAT(before.Bind(registry, key, kStart), IsOk());
  ASSERT_THAT(after.Bind(registry, key, kStart + 1), IsOk());

  const BoundRule& b = before.FindDomain("shop")->rules[1];
  EXPECT_EQ(Only(after).id, b.id);
  EXPECT_EQ(Only(after).hash_key.bytes, b.hash_key.bytes);
  EXPECT_EQ(OnlyLimit(after).id, b.tiers.at(0).at(0).id);
  EXPECT_EQ(b.id->name, "b");
  EXPECT_EQ(b.id->domain->name, "shop");
  EXPECT_EQ(after.FindDomain("shop")->id, b.id->domain);
}

TEST(RuleSetBind, GivesEachDomainAndNameAHashKeyOfItsOwn) {
  Registry registry;
  RuleSet set = MakeRules({Named("a"), Named("b"), Named("a", "bank")});
  ASSERT_THAT(set.Bind(registry, RandomHashKey(), kStart), IsOk());

  const auto& shop = set.FindDomain("shop")->rules;
  EXPECT_NE(shop[0].hash_key.bytes, shop[1].hash_key.bytes);
  EXPECT_NE(shop[0].hash_key.bytes, Only(set, "bank").hash_key.bytes);
}

TEST(RuleSetBind, DoesNotConfuseWhereADomainEndsAndANameBegins) {
  Registry registry;
  RuleSet set = MakeRules({Named("c", "a|b"), Named("b|c", "a"),
                           Named("bc", "a"), Named("c", "ab")});
  ASSERT_THAT(set.Bind(registry, RandomHashKey(), kStart), IsOk());

  EXPECT_NE(Only(set, "a|b").hash_key.bytes, Only(set, "a").hash_key.bytes);
  EXPECT_NE(set.FindDomain("a")->rules[1].hash_key.bytes,
            Only(set, "ab").hash_key.bytes);
}

TEST(RuleSetBind, BindsEachOfSeveralLimits) {
  Registry registry;
  RuleSet set = MakeRules(
      {MakeRule("r", {"user"}, {PerSecond(1), PerMinute(30), PerSecond(1)})});
  ASSERT_THAT(set.Bind(registry, RandomHashKey(), kStart), IsOk());

  const std::vector<BoundLimit>& limits = Only(set).tiers.at(0);
  ASSERT_EQ(limits.size(), 3u);
  EXPECT_EQ(registry.Version(limits[0].id).limit, PerSecond(1));
  EXPECT_EQ(registry.Version(limits[1].id).limit, PerMinute(30));
  EXPECT_NE(limits[0].id, limits[2].id);
}

TEST(RuleSetBind, ReplacesAChangedLimitAtThatMoment) {
  Registry registry;
  const HashKey key = RandomHashKey();
  RuleSet before = MakeRules({MakeRule("r", {}, {PerHour(10)})});
  RuleSet after = MakeRules({MakeRule("r", {}, {PerHour(20)})});

  ASSERT_THAT(before.Bind(registry, key, kStart), IsOk());
  ASSERT_THAT(after.Bind(registry, key, kStart + 7), IsOk());

  const LimitVersion& old = registry.Version(OnlyLimit(before).id);
  EXPECT_EQ(old.successor, OnlyLimit(after).id);
  EXPECT_EQ(old.replaced_at_ns, kStart + 7);
}

}  // namespace
}  // namespace tollgate
