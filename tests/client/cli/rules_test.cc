#include "client/cli/rules.h"

#include <google/protobuf/util/json_util.h>

#include <string>

#include "client/cli/rule_messages.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/client/cli/admin_service.h"
#include "tests/client/cli/run_tollgate.h"
#include "tests/client/cli/temp_rules.h"
#include "tests/client/test_service.h"

namespace tollgate::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

Limit Rate(uint64_t tokens, absl::Duration period) {
  return *Limit::Create(tokens, period);
}

TEST(Rules, ListsTheRulesOfFilesInOrder) {
  const TempRules rules(kShop);
  const Ran ran = RunTollgate({"rules", "--rules", rules.path()});
  EXPECT_EQ(ran.exit_status, 0) << ran.err;
  const size_t line = ran.out.find('\n') + 1;
  EXPECT_THAT(ran.out, StartsWith("4 rules in 1 domain, hash "));
  EXPECT_EQ(ran.out.substr(line),
            R"(
shop
  RULE        MATCH              KEY            LIMIT               ALGORITHM     MODE     NOTES
  per-user                       user           10/second burst 20  token_bucket  enforce
  login       endpoint = /login  username       5/minute, 100/day   token_bucket  enforce
  per-client                     api_key | ip   50/5m               token_bucket  shadow
  all                            (one for all)  1000/second         token_bucket  enforce  cost 10
)");
}

TEST(Rules, PrintsTheResponseAsJson) {
  const TempRules rules(kShop);
  const Ran ran = RunTollgate({"rules", "--json", "--rules", rules.path()});
  EXPECT_EQ(ran.exit_status, 0) << ran.err;
  v1::GetRulesResponse response;
  ASSERT_TRUE(
      google::protobuf::util::JsonStringToMessage(ran.out, &response).ok())
      << ran.out;
  EXPECT_EQ(response.hash().size(), 32);
  ASSERT_EQ(response.rules_size(), 4);
  const v1::RuleInfo& user = response.rules(0);
  EXPECT_EQ(user.domain(), "shop");
  EXPECT_EQ(user.name(), "per-user");
  EXPECT_EQ(user.algorithm(), "token_bucket");
  ASSERT_EQ(user.limits_size(), 1);
  EXPECT_EQ(user.limits(0).text(), "10/second burst 20");
  EXPECT_EQ(user.limits(0).limit().tokens(), 10);
  EXPECT_EQ(user.limits(0).limit().burst(), 20);
  EXPECT_EQ(user.limits(0).limit().period().seconds(), 1);
  EXPECT_EQ(user.on_outage(), "backstop");
  EXPECT_THAT(response.rules(1).match(), ElementsAre("endpoint = /login"));
  EXPECT_EQ(response.rules(3).cost(), 10);
}

TEST(Rules, OnlyThoseOfTheDomainThatIsAskedFor) {
  const TempRules rules(kShop);
  EXPECT_THAT(
      RunTollgate({"rules", "--rules", rules.path(), "--domain=other"}).out,
      StartsWith("0 rules in 0 domains, hash "));
}

TEST(Rules, ListsThoseOfAServerByDomain) {
  AdminService admin;
  {
    const MutexLock lock(admin.mutex);
    admin.rules.set_hash("abc");
    for (const std::string domain : {"one", "two", "one"}) {
      v1::RuleInfo* rule = admin.rules.add_rules();
      rule->set_domain(domain);
      rule->set_name(absl::StrCat("r", admin.rules.rules_size()));
      rule->set_algorithm("sliding_log");
      rule->set_mode("enforce 25%");
      rule->set_on_outage("refuse");
      v1::LimitInfo* limit = rule->add_limits();
      limit->set_tier("free");
      limit->set_text("1/day");
      rule->add_notes("tier by plan, default free");
    }
    admin.rules.mutable_rules(2)->set_unlimited(true);
  }
  const Ran ran = RunTollgate(
      {"rules", "--domain=x", "--timeout=20s", "--server", admin.target()});
  EXPECT_EQ(ran.exit_status, 0) << ran.err;
  EXPECT_EQ(ran.out,
            R"(3 rules in 2 domains, hash abc

one
  RULE  KEY            LIMIT        ALGORITHM    MODE         NOTES
  r1    (one for all)  free: 1/day  sliding_log  enforce 25%  tier by plan, default free; on outage refuse
  r3                   unlimited    sliding_log  enforce 25%  tier by plan, default free

two
  RULE  KEY            LIMIT        ALGORITHM    MODE         NOTES
  r2    (one for all)  free: 1/day  sliding_log  enforce 25%  tier by plan, default free; on outage refuse
)");
  const MutexLock lock(admin.mutex);
  EXPECT_EQ(admin.get_rules.domain(), "x");
}

TEST(Rules, MistakesAndNoAnswerAreErrors) {
  const TempRules rules("domain: d\nrules:\n  - {name: a, limit: 0/second}\n");
  const Ran bad = RunTollgate({"rules", "--rules", rules.path()});
  EXPECT_EQ(bad.exit_status, 2);
  EXPECT_THAT(bad.out, IsEmpty());
  EXPECT_THAT(bad.err, HasSubstr(rules.path() + ":3:22: rules[0].limit: "));
  const DeafPort port;
  const Ran gone = RunTollgate({"rules", "--server", port.target()});
  EXPECT_EQ(gone.exit_status, 2);
  EXPECT_THAT(gone.err,
              HasSubstr("no answer from " + port.target() + ": UNAVAILABLE"));
}

TEST(RuleMessages, SaysWhatElseARuleHasInNotes) {
  Rule rule;
  rule.algorithm = FindAlgorithm("token_bucket");
  rule.tier = Tier{"plan",
                   {{"free", {Rate(1, absl::Minutes(1))}},
                    {"paid", {Rate(9, absl::Minutes(1))}}},
                   "free"};
  rule.penalty =
      PenaltyRule{*Rate(100, absl::Minutes(1)).WithHold(absl::Minutes(10))};
  rule.reserve = Reserve{"prio", {{"high", 0}, {"low", 20}}, "low"};
  rule.overflow_percent = 50;
  rule.mode = Mode::kEnforce;
  rule.enforce_percent = 25;
  rule.on_outage = OutagePolicy::kRefuse;
  const v1::RuleInfo message = ToMessage(rule);
  EXPECT_THAT(
      message.notes(),
      ElementsAre(
          "tier by plan, free by default",
          "penalty: blocked for 10m after more than 100/minute refusals",
          "reserve by prio: high leaves 0%, low leaves 20%, low by default",
          "overflow_share: 50%"));
  ASSERT_EQ(message.limits_size(), 2);
  EXPECT_EQ(message.limits(1).tier(), "paid");
  EXPECT_EQ(message.limits(1).text(), "9/minute");
  EXPECT_EQ(message.mode(), "enforce 25%");
  EXPECT_EQ(message.on_outage(), "refuse");

  Rule list;
  list.unlimited = true;
  EXPECT_THAT(ToMessage(list).notes(), ElementsAre("skips all rules"));
  list.skips = {"a", "b"};
  EXPECT_THAT(ToMessage(list).notes(), ElementsAre("skips a, b"));
  EXPECT_TRUE(ToMessage(list).unlimited());
}

TEST(RuleMessages, TheModeIsTheRulesUnlessTheKeyMakesItAShadow) {
  Rule rule;
  rule.name = "r";
  rule.enforce_percent = 25;
  RuleExplanation explanation;
  explanation.rule = &rule;
  EXPECT_EQ(ToMessage(explanation).mode(), "enforce 25%");
  explanation.applies = true;
  EXPECT_EQ(ToMessage(explanation).mode(), "enforce 25%");
  explanation.shadow = true;
  EXPECT_EQ(ToMessage(explanation).mode(), "shadow");
}

TEST(RuleMessages, RoundsWhatIsReservedUp) {
  Rule rule;
  rule.name = "r";
  RuleExplanation explanation;
  explanation.rule = &rule;
  explanation.applies = true;
  explanation.limits = {*Limit::Create(9, absl::Seconds(1), 21)};
  explanation.reserved_percent = 20;
  EXPECT_EQ(ToMessage(explanation).reserved(), 5);  // 4.2
  explanation.limits = {*Limit::Create(9, absl::Seconds(1), 20)};
  EXPECT_EQ(ToMessage(explanation).reserved(), 4);
  explanation.limits = {};  // an allow-list
  EXPECT_EQ(ToMessage(explanation).reserved(), 0);
}

}  // namespace
}  // namespace tollgate::cli
