#include "client/cli/explain.h"

#include <google/protobuf/util/json_util.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/client/cli/admin_service.h"
#include "tests/client/cli/run_tollgate.h"
#include "tests/client/cli/temp_rules.h"
#include "tests/client/test_service.h"

namespace tollgate::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

v1::ExplainResponse Parse(const std::string& json) {
  v1::ExplainResponse response;
  EXPECT_TRUE(google::protobuf::util::JsonStringToMessage(json, &response).ok())
      << json;
  return response;
}

TEST(Explain, ShowsFromFilesWhatAppliesAndWhyTheOthersDoNot) {
  const TempRules rules(kShop);
  const Ran ran = RunTollgate({"explain", "--rules", rules.path(), "user=ana",
                               "ip=192.0.2.1", "endpoint=/search"});
  EXPECT_EQ(ran.exit_status, 0) << ran.err;
  EXPECT_EQ(ran.out,
            R"(shop: 3 of 4 rules apply

  #  RULE        BUCKET         LIMIT               COST  MODE
  1  per-user    user=ana       10/second burst 20  1     enforce
  2  per-client  ip=192.0.2.1   50/5m               1     shadow
  3  all         (one for all)  1000/second         10    enforce

  RULE   DOES NOT APPLY BECAUSE
  login  entry "endpoint" is "/search", not "/login"; entry "username" is missing
)");
  EXPECT_THAT(ran.err, IsEmpty());
}

TEST(Explain, MultipliesTheCostAndNamesTheDescriptorWhereThereAreSeveral) {
  const TempRules rules(kShop);
  const Ran ran = RunTollgate({"explain", "--rules", rules.path(), "user=ana",
                               "--cost=3", "--descriptor",
                               "endpoint=/login username=bo", "--domain=shop"});
  EXPECT_EQ(ran.exit_status, 0) << ran.err;
  EXPECT_EQ(ran.out,
            R"(shop: 3 of 4 rules apply

  #  RULE      BUCKET         LIMIT               COST  MODE     NOTES
  1  per-user  user=ana       10/second burst 20  3     enforce  descriptor 0
  2  login     username=bo    5/minute, 100/day   3     enforce  descriptor 1
  3  all       (one for all)  1000/second         30    enforce  descriptor 0

  RULE        DOES NOT APPLY BECAUSE
  per-client  entry "api_key" is missing and entry "ip" is missing
)");
}

TEST(Explain, SaysThatNoRuleAppliesOrNoneIsThere) {
  const TempRules rules(
      "domain: d\nrules:\n  - {name: r, key: [user], "
      "limit: 1/second}\n");
  EXPECT_EQ(RunTollgate({"explain", "--rules", rules.path(), "a=b"}).out,
            "d: none of 1 rule applies, so the request is allowed\n\n"
            "  RULE  DOES NOT APPLY BECAUSE\n"
            "  r     entry \"user\" is missing\n");
  EXPECT_EQ(
      RunTollgate({"explain", "--rules", rules.path(), "a=b", "--domain=x"})
          .out,
      "x: no rule has this domain, so it allows all\n");
}

TEST(Explain, ColoursOnlyWhatATerminalShows) {
  const TempRules rules(kShop);
  const std::vector<std::string> args{"explain", "--rules", rules.path(),
                                      "user=\033[31mana"};
  const Ran plain = RunTollgate(args, Palette::kPlain);
  EXPECT_THAT(plain.out, Not(HasSubstr("\033")));
  EXPECT_THAT(plain.out, HasSubstr("user=\\x1b[31mana"));
  const Ran coloured = RunTollgate(args, Palette::kColored);
  EXPECT_THAT(coloured.out, HasSubstr("\033[32menforce\033[0m\n"));
  EXPECT_THAT(coloured.out, HasSubstr("user=\\x1b[31mana"));
}

TEST(Explain, PrintsTheResponseAsJson) {
  const TempRules rules(kShop);
  const Ran ran = RunTollgate({"explain", "--json", "--rules", rules.path(),
                               "user=ana", "username=bo", "endpoint=/login"});
  EXPECT_EQ(ran.exit_status, 0) << ran.err;
  const v1::ExplainResponse response = Parse(ran.out);
  ASSERT_EQ(response.rules_size(), 4);
  EXPECT_EQ(response.rules(1).rule(), "login");
  EXPECT_TRUE(response.rules(1).applies());
  EXPECT_EQ(response.rules(1).key(), "username=bo");
  EXPECT_EQ(response.rules(1).limits(1), "100/day");
  EXPECT_EQ(response.rules(1).cost(), 1);
  EXPECT_EQ(response.rules(1).mode(), "enforce");
  EXPECT_FALSE(response.rules(2).applies());
  EXPECT_EQ(response.rules(2).rule(), "per-client");
  EXPECT_THAT(response.rules(2).reason(), HasSubstr("\"ip\" is missing"));
  // What is false and zero is said too.
  EXPECT_THAT(ran.out, HasSubstr(R"("applies":false)"));
  EXPECT_THAT(ran.out, HasSubstr(R"("reserved":"0")"));
  EXPECT_EQ(RunTollgate({"explain", "--json", "--rules", rules.path(), "a=b"},
                        Palette::kColored)
                .out.find('\033'),
            std::string::npos);
}

TEST(Explain, AsksAServerWithEverythingTheRequestHas) {
  AdminService admin;
  {
    const MutexLock lock(admin.mutex);
    v1::RuleExplanation* rule = admin.explanation.add_rules();
    rule->set_rule("by-plan");
    rule->set_applies(true);
    rule->set_key("user=ana");
    rule->set_tier("paid");
    rule->add_limits("600/minute");
    rule->set_cost(2);
    rule->set_reserved(120);
    rule->set_overflow_percent(50);
    rule->set_mode("enforce");
    rule = admin.explanation.add_rules();
    rule->set_rule("staff");
    rule->set_applies(true);
    rule->set_mode("shadow");
  }
  const std::vector<std::string> args{
      "explain",  "user=ana",     "--domain=shop", "--cost=2",
      "--server", admin.target(), "--timeout=20s"};
  const Ran ran = RunTollgate(args);
  EXPECT_EQ(ran.exit_status, 0) << ran.err;
  EXPECT_EQ(ran.out,
            R"(shop: 2 of 2 rules apply

  #  RULE     BUCKET         LIMIT       COST  MODE     NOTES
  1  by-plan  user=ana       600/minute  2     enforce  tier paid, leaves 120 for others, overflow_share 50%
  2  staff    (one for all)  unlimited         shadow
)");
  std::vector<std::string> json = args;
  json.emplace_back("--json");
  EXPECT_EQ(Parse(RunTollgate(json).out).rules(0).reserved(), 120);
  const MutexLock lock(admin.mutex);
  EXPECT_EQ(admin.explain.domain(), "shop");
  EXPECT_EQ(admin.explain.cost(), 2);
  ASSERT_EQ(admin.explain.descriptors_size(), 1);
  EXPECT_EQ(admin.explain.descriptors(0).entries(0).value(), "ana");
}

TEST(Explain, AtAServerTheDomainIsDefaultUnlessTold) {
  AdminService admin;
  const Ran ran = RunTollgate(
      {"explain", "a=b", "--timeout=20s", "--server", admin.target()});
  EXPECT_EQ(ran.exit_status, 0) << ran.err;
  EXPECT_EQ(ran.out, "default: no rule has this domain, so it allows all\n");
  const MutexLock lock(admin.mutex);
  EXPECT_EQ(admin.explain.domain(), "default");
}

TEST(Explain, MistakesInTheFilesAreErrorsEachInItsPlace) {
  const TempRules rules(
      "domain: d\nrules:\n  - {name: a, limit: 0/second}\n"
      "  - {name: b, limit: 1/fortnight}\n");
  const Ran ran = RunTollgate({"explain", "--rules", rules.path(), "a=b"});
  EXPECT_EQ(ran.exit_status, 2);
  EXPECT_THAT(ran.out, IsEmpty());
  EXPECT_THAT(ran.err, HasSubstr("tollgate explain: " + rules.path() +
                                 " has mistakes:\n"));
  EXPECT_THAT(ran.err, HasSubstr(rules.path() + ":3:22: rules[0].limit: "));
  EXPECT_THAT(ran.err, HasSubstr(rules.path() + ":4:22: rules[1].limit: "));
}

TEST(Explain, FilesOfSeveralDomainsWantOneNamed) {
  const std::string directory =
      absl::StrCat(::testing::TempDir(), "two-domains-", ::getpid());
  std::filesystem::create_directories(directory);
  std::ofstream(directory + "/a.yaml")
      << "domain: a\nrules: [{name: r, limit: 1/second}]\n";
  std::ofstream(directory + "/b.yaml")
      << "domain: b\nrules: [{name: r, limit: 1/second}]\n";
  const Ran ran = RunTollgate({"explain", "--rules", directory, "k=v"});
  EXPECT_EQ(ran.exit_status, 2);
  EXPECT_THAT(ran.err, HasSubstr("--domain: got none, want one of a, b"));
  EXPECT_EQ(RunTollgate({"explain", "--rules", directory, "k=v", "--domain=b"})
                .exit_status,
            0);
  std::filesystem::remove_all(directory);
}

TEST(Explain, WrongUseAndNoAnswerAreErrors) {
  struct Case {
    std::vector<std::string> args;
    std::string message;
  };
  const TempRules rules(kShop);
  const DeafPort port;
  const Case cases[] = {
      {{"--rules", rules.path()}, "want KEY=VALUE... or --descriptor"},
      {{"user", "--rules", rules.path()}, "got \"user\", want KEY=VALUE"},
      {{"a=" + std::string(4097, 'x'), "--rules", rules.path()},
       "descriptors[0].entries[0].value"},
      {{"a=b", "--rules", rules.path(), "--server=x:1"}, "excludes"},
      {{"a=b", "--rules=/no/such/file"}, "/no/such/file"},
      {{"a=b", "--timeout=soon"}, "--timeout: got \"soon\""},
      {{"a=b", "--server", port.target()},
       "no answer from " + port.target() + ": UNAVAILABLE"},
  };
  for (const Case& c : cases) {
    std::vector<std::string> args{"explain"};
    args.insert(args.end(), c.args.begin(), c.args.end());
    const Ran ran = RunTollgate(args);
    EXPECT_EQ(ran.exit_status, 2) << c.message;
    EXPECT_THAT(ran.err, HasSubstr(c.message));
    EXPECT_THAT(ran.out, IsEmpty());
  }
}

TEST(Explain, PassesOnWhatTheServerSaysOfABadRequest) {
  AdminService admin;
  {
    const MutexLock lock(admin.mutex);
    admin.status = {grpc::StatusCode::INVALID_ARGUMENT, "cost: too odd"};
  }
  const Ran ran = RunTollgate(
      {"explain", "a=b", "--timeout=20s", "--server", admin.target()});
  EXPECT_EQ(ran.exit_status, 2);
  EXPECT_EQ(ran.err, "tollgate explain: cost: too odd\n");
}

}  // namespace
}  // namespace tollgate::cli
