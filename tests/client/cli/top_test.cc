#include "client/cli/top.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/client/cli/admin_service.h"
#include "tests/client/cli/run_tollgate.h"

namespace tollgate::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr int64_t kNow = 1'700'000'000;  // 2023-11-14 22:13:20 UTC

void AddKey(v1::RefusedRule& rule, const std::string& text, uint64_t count,
            int64_t seconds_ago, uint64_t error = 0, bool shadow = false) {
  v1::RefusedKey& key = *rule.add_keys();
  key.set_key(text);
  key.set_count(count);
  key.set_error(error);
  key.set_share(static_cast<double>(count) / static_cast<double>(rule.total()));
  key.mutable_last_refused_at()->set_seconds(kNow - seconds_ago);
  key.set_shadow(shadow);
}

v1::RefusedRule& AddRule(v1::TopRefusedResponse& response,
                         const std::string& name, uint64_t total) {
  v1::RefusedRule& rule = *response.add_rules();
  rule.set_domain("shop");
  rule.set_rule(name);
  rule.set_total(total);
  rule.mutable_since()->set_seconds(kNow - 3600);
  return rule;
}

v1::TopRefusedResponse Nobody() {
  v1::TopRefusedResponse response;
  response.mutable_as_of()->set_seconds(kNow);
  response.mutable_half_life()->set_seconds(600);
  return response;
}

// Keys that callers chose to fool who reads them.
v1::TopRefusedResponse Hostile() {
  v1::TopRefusedResponse response = Nobody();
  v1::RefusedRule& login = AddRule(response, "login", 200);
  AddKey(login, "username=ana", 150, 0);
  AddKey(login, "username=\x1b[2J\x1b[31mroot\r\n", 30, 59, 4);
  AddKey(login,
         "username=\xc2\x9b"
         "2J",
         10, 60, 4);
  AddKey(login, "username=\xe2\x80\xaemoor", 6, 7200);
  AddKey(login, "username=J\xc3\xbcrgen", 4, 90'000);
  v1::RefusedRule& trial = AddRule(response, "trial", 3);
  AddKey(trial, "", 3, -5, 0, /*shadow=*/true);
  return response;
}

TEST(TopText, ShowsWhoIsRefusedAndObeysNoKey) {
  EXPECT_EQ(TopText(Hostile(), Palette::kPlain),
            R"(refused most at 22:13:20 UTC; counts halve every 10m

shop login: 200 refused since 21:13:20 UTC
  REFUSED  TOO MANY BY  SHARE  LAST      KEY
  150                   75.0%  now       username=ana
  30       up to 4      15.0%  59s ago   username=\x1b[2J\x1b[31mroot\x0d\x0a
  10       up to 4      5.0%   1m0s ago  username=\xc2\x9b2J
  6                     3.0%   2h0m ago  username=\xe2\x80\xaemoor
  4                     2.0%   1d1h ago  username=Jürgen

shop trial: 3 refused since 21:13:20 UTC
  REFUSED  SHARE   LAST  MODE    KEY
  3        100.0%  now   shadow  (one for all)
)");
}

TEST(TopText, ColoursNothingThatAKeyAsksFor) {
  const std::string text = TopText(Hostile(), Palette::kColored);
  EXPECT_THAT(text, AllOf(HasSubstr("\033[1musername=ana\033[0m"),
                          HasSubstr("\\x1b[2J\\x1b[31mroot"),
                          Not(HasSubstr("\033[2J"))));
}

TEST(TopText, SaysWhatIsNotThere) {
  v1::TopRefusedResponse response = Nobody();
  EXPECT_EQ(TopText(response, Palette::kPlain),
            "refused most at 22:13:20 UTC; counts halve every 10m\n"
            "\nnobody has been refused lately\n");
  AddRule(response, "login", 7);
  response.set_hashed(true);
  response.set_missed(5);
  response.set_rules_left_out(1);
  EXPECT_EQ(TopText(response, Palette::kPlain),
            "refused most at 22:13:20 UTC; counts halve every 10m; keys are "
            "hashes\n"
            "not counted, ever: 5\n"
            "1 more rule had refusals: --domain and --rule show them\n"
            "\nshop login: 7 refused since 21:13:20 UTC\n"
            "  by no key more than once or twice\n");
}

TEST(FirstLines, SaysHowManyAreMissing) {
  EXPECT_EQ(FirstLines("a\nb\nc\n", 4), "a\nb\nc\n");
  EXPECT_EQ(FirstLines("a\nb\nc\n", 3), "a\nb\nc\n");
  EXPECT_EQ(FirstLines("a\nb\nc\n", 2),
            "a\n(2 more lines: a taller terminal, --rule or --limit)\n");
  EXPECT_EQ(FirstLines("a\nb\nc\n", 1),
            "(3 more lines: a taller terminal, --rule or --limit)\n");
}

TEST(Top, PrintsOnceWhereThereIsNoScreen) {
  AdminService admin;
  {
    const MutexLock lock(admin.mutex);
    admin.refused = Hostile();
  }
  const std::vector<std::string> args{
      "top",           "--domain=shop", "--rule=login", "--limit=1000",
      "--timeout=20s", "--server",      admin.target()};
  const Ran ran = RunTollgate(args);
  EXPECT_EQ(ran.exit_status, 0) << ran.err;
  EXPECT_EQ(ran.out, TopText(Hostile(), Palette::kPlain));
  std::vector<std::string> json = args;
  json.emplace_back("--json");
  EXPECT_THAT(RunTollgate(json).out,
              AllOf(HasSubstr(R"("count":"150","error":"0","share":0.75)"),
                    Not(HasSubstr("\x1b"))));
  const MutexLock lock(admin.mutex);
  EXPECT_EQ(admin.top.domain(), "shop");
  EXPECT_EQ(admin.top.rule(), "login");
  EXPECT_EQ(admin.top.max_keys(), 1000U);
}

TEST(Top, SaysWhatToDoWhereThereIsNoAnswer) {
  const Ran ran = RunTollgate({"top", "--server=127.0.0.1:1", "--timeout=20s"});
  EXPECT_EQ(ran.exit_status, 2);
  EXPECT_THAT(ran.out, IsEmpty());
  EXPECT_THAT(ran.err,
              AllOf(HasSubstr("tollgate top: no answer from 127.0.0.1:1: "),
                    HasSubstr("Is tollgate-server running there?")));
}

TEST(Top, GivesTheServersReasonWhereItKeepsNothing) {
  AdminService admin;
  {
    const MutexLock lock(admin.mutex);
    admin.status = {grpc::StatusCode::FAILED_PRECONDITION, "--top-refused"};
  }
  const Ran ran =
      RunTollgate({"top", "--timeout=20s", "--server", admin.target()});
  EXPECT_EQ(ran.exit_status, 2);
  EXPECT_EQ(ran.err, "tollgate top: --top-refused\n");
}

TEST(Top, NamesTheOptionThatIsBad) {
  for (const char* bad : {"--interval=99ms", "--interval=61m",
                          "--interval=soon", "--limit=0", "--limit=1001"}) {
    const Ran ran = RunTollgate({"top", bad, "--server=127.0.0.1:1"});
    EXPECT_EQ(ran.exit_status, 2) << bad;
    const std::string option(bad, std::string(bad).find('='));
    EXPECT_THAT(ran.err, HasSubstr(option));
  }
}

}  // namespace
}  // namespace tollgate::cli
