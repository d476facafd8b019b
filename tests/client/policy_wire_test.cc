// From a rule of the server to the rule that a client enforces, over the wire.
#include "client/policy_wire.h"

#include <string>
#include <utility>
#include <vector>

#include "client/outage_refusal.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/rpc/policy_rule.h"
#include "tests/support/status_matchers.h"

namespace tollgate::client {
namespace {

using ::testing::HasSubstr;

Rule Full() {
  Rule rule;
  rule.domain = "shop";
  rule.name = "login";
  rule.match = {{"path", {Pattern::Exact("a*"), Pattern::Parse("b*c")}}};
  rule.key = {
      {{{"user", std::nullopt}, {"ip", AddressPrefix{.v4 = 24, .v6 = 48}}}},
      {{{"device", std::nullopt}}}};
  rule.limits = {
      *Limit::Create(5, absl::Nanoseconds(1'500'000'001), 7)
           ->WithHold(absl::Nanoseconds(2'000'000'003)),
      *Limit::Create(1000, absl::Hours(24))->WithHold(absl::Seconds(1))};
  rule.algorithm = FindAlgorithm("leaky_bucket");
  rule.cost = 3;
  rule.enforce_percent = 25;
  return rule;
}

Rule Carried(const Rule& rule) {
  v1::PolicyRule message;
  ToPolicyRule(rule, message);
  absl::StatusOr<Rule> carried = ToRule(message);
  EXPECT_TRUE(carried.ok()) << carried.status();
  return *std::move(carried);
}

TEST(PolicyWire, CarriesARuleWithAllThatSelectsAndLimits) {
  const Rule rule = Full();
  const Rule carried = Carried(rule);
  EXPECT_EQ(carried.domain, rule.domain);
  EXPECT_EQ(carried.name, rule.name);
  ASSERT_EQ(carried.match.size(), 1);
  EXPECT_EQ(carried.match[0].key, "path");
  EXPECT_EQ(carried.match[0].any_of, rule.match[0].any_of);
  ASSERT_EQ(carried.key.size(), 2);
  EXPECT_EQ(carried.key[0].alternatives[0].entry, "user");
  EXPECT_FALSE(carried.key[0].alternatives[0].prefix.has_value());
  EXPECT_EQ(carried.key[0].alternatives[1].prefix->v4, 24);
  EXPECT_EQ(carried.key[0].alternatives[1].prefix->v6, 48);
  EXPECT_EQ(carried.limits, rule.limits);
  EXPECT_EQ(carried.algorithm, rule.algorithm);
  EXPECT_EQ(carried.cost, 3);
  EXPECT_EQ(carried.enforce_percent, 25);
  EXPECT_EQ(carried.mode, Mode::kEnforce);
}

TEST(PolicyWire, CarriesTiersAndAllowLists) {
  Rule rule = Full();
  rule.tier = Tier{"plan", {{"free", rule.limits}, {"paid", rule.limits}}, ""};
  rule.limits.clear();
  const Rule carried = Carried(rule);
  ASSERT_TRUE(carried.tier.has_value());
  EXPECT_EQ(carried.tier->entry, "plan");
  EXPECT_EQ(carried.tier->fallback, "");
  EXPECT_EQ(carried.tier->limits, rule.tier->limits);

  Rule staff;
  staff.domain = "shop";
  staff.name = "staff";
  staff.unlimited = true;
  staff.skips = {"login"};
  const Rule list = Carried(staff);
  EXPECT_TRUE(list.unlimited);
  EXPECT_EQ(list.skips, staff.skips);
}

TEST(PolicyWire, ARuleThatRefusesHasABucketThatIsNeverFull) {
  Rule rule = Full();
  rule.on_outage = OutagePolicy::kRefuse;
  EXPECT_EQ(Carried(rule).algorithm, &OutageRefusal());
}

TEST(PolicyWire, ARuleThatAllowsOrIsOnTrialIsOffAndValid) {
  Rule allow = Full();
  allow.on_outage = OutagePolicy::kAllow;
  Rule trial = Full();
  trial.mode = Mode::kShadow;
  for (const Rule& rule : {allow, trial}) {
    const Rule carried = Carried(rule);
    EXPECT_EQ(carried.mode, Mode::kOff);
    EXPECT_EQ(carried.name, "login");
    EXPECT_THAT(ValidateRule(carried), IsOk());
  }
}

TEST(PolicyWire, AnAlgorithmOfALaterServiceIsATokenBucket) {
  v1::PolicyRule message;
  ToPolicyRule(Full(), message);
  message.set_algorithm("of_tomorrow");
  EXPECT_EQ(ToRule(message)->algorithm, FindAlgorithm("token_bucket"));
}

TEST(PolicyWire, RefusesALimitThatIsNoneAndNamesTheRule) {
  v1::PolicyRule message;
  ToPolicyRule(Full(), message);
  message.mutable_limits(1)->mutable_limit()->set_tokens(0);
  EXPECT_THAT(ToRule(message), StatusIs(absl::StatusCode::kInvalidArgument,
                                        HasSubstr("\"login\"")));
}

TEST(PolicyWire, RefusesAPenaltyThatIsNone) {
  Rule rule = Full();
  rule.penalty = PenaltyRule{
      *Limit::Create(9, absl::Seconds(8))->WithHold(absl::Hours(1))};
  v1::PolicyRule message;
  ToPolicyRule(rule, message);
  EXPECT_EQ(ToRule(message)->penalty->after, rule.penalty->after);
  message.mutable_penalty()->mutable_block()->set_seconds(-1);
  EXPECT_THAT(ToRule(message), StatusIs(absl::StatusCode::kInvalidArgument,
                                        HasSubstr("\"login\"")));
}

v1::PolicyNode Node() {
  v1::PolicyNode message;
  message.set_domain("edge");
  message.set_name("user");
  message.set_algorithm("token_bucket");
  message.add_path()->set_key("user");
  v1::PolicyNodeLimit& limit = *message.add_limits();
  limit.mutable_limit()->set_tokens(5);
  limit.mutable_limit()->set_burst(5);
  limit.mutable_limit()->mutable_period()->set_seconds(60);
  limit.set_unit(2);
  limit.set_unit_multiplier(1);
  return message;
}

TEST(PolicyWire, ANodesUnitOfALaterServiceIsASecond) {
  v1::PolicyNode message = Node();
  message.mutable_limits(0)->set_unit(99);
  message.set_algorithm("of_tomorrow");
  const absl::StatusOr<Rule> rule = ToRule(message);
  ASSERT_THAT(rule.status(), IsOk());
  EXPECT_EQ(rule->node->limits[0].unit, LimitUnit::kSecond);
  EXPECT_EQ(rule->algorithm, FindAlgorithm("token_bucket"));
  EXPECT_EQ(rule->limits[0].period_ns(), 60'000'000'000);
  EXPECT_THAT(ValidateRule(*rule), IsOk());
}

TEST(PolicyWire, RefusesANodesLimitThatIsNone) {
  v1::PolicyNode message = Node();
  message.mutable_limits(0)->mutable_limit()->set_burst(0);
  EXPECT_THAT(ToRule(message), StatusIs(absl::StatusCode::kInvalidArgument,
                                        HasSubstr("\"user\"")));
}

v1::Policy Part(uint32_t part, uint32_t parts, const std::string& name) {
  v1::Policy message;
  message.set_hash("0123abcd");
  message.set_clients(8);
  message.set_part(part);
  message.set_parts(parts);
  Rule rule = Full();
  rule.name = name;
  ToPolicyRule(rule, *message.add_rules());
  return message;
}

TEST(PolicyReader, PutsPartsTogetherInTheirOrder) {
  PolicyReader reader;
  EXPECT_FALSE(reader.Read(Part(0, 2, "a"))->has_value());
  const auto update = *reader.Read(Part(1, 2, "b"));
  ASSERT_TRUE(update.has_value());
  EXPECT_EQ(update->hash, "0123abcd");
  EXPECT_EQ(update->clients, 8);
  ASSERT_EQ(update->rules->size(), 2);
  EXPECT_EQ((*update->rules)[0].name, "a");
  EXPECT_EQ((*update->rules)[1].name, "b");
}

TEST(PolicyReader, TakesRulesOfBothKinds) {
  PolicyReader reader;
  v1::Policy message = Part(0, 1, "a");
  *message.add_nodes() = Node();
  const auto update = *reader.Read(message);
  ASSERT_TRUE(update.has_value());
  ASSERT_EQ(update->rules->size(), 2);
  EXPECT_FALSE((*update->rules)[0].node.has_value());
  EXPECT_TRUE((*update->rules)[1].node.has_value());
}

TEST(PolicyReader, BeginsAnewAtPart0) {
  PolicyReader reader;
  ASSERT_FALSE(reader.Read(Part(0, 3, "old"))->has_value());
  const auto update = *reader.Read(Part(0, 1, "new"));
  ASSERT_TRUE(update.has_value());
  ASSERT_EQ(update->rules->size(), 1);
  EXPECT_EQ((*update->rules)[0].name, "new");
}

TEST(PolicyReader, TakesTheNumberOfClientsAlone) {
  PolicyReader reader;
  v1::Policy message;
  message.set_hash("0123abcd");
  message.set_clients(9);
  const auto update = *reader.Read(message);
  ASSERT_TRUE(update.has_value());
  EXPECT_EQ(update->clients, 9);
  EXPECT_FALSE(update->rules.has_value());
}

TEST(PolicyReader, RefusesPartsThatAreMissingOrBeyondTheLast) {
  for (const auto& [part, parts] :
       {std::pair<uint32_t, uint32_t>{1, 2}, {2, 2}, {7, 3}}) {
    PolicyReader reader;
    EXPECT_THAT(
        reader.Read(Part(part, parts, "a")),
        StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("part")));
  }
}

}  // namespace
}  // namespace tollgate::client
