#include "client/cli/buckets.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/client/cli/admin_service.h"
#include "tests/client/cli/run_tollgate.h"
#include "tests/client/test_service.h"

namespace tollgate::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Peek, ShowsTheBucketsInColumns) {
  AdminService admin;
  {
    const MutexLock lock(admin.mutex);
    v1::RuleStatus* user = admin.buckets.add_buckets();
    user->set_rule("per-user");
    user->set_outcome(v1::REFUSED);
    user->mutable_limit()->set_tokens(10);
    user->mutable_limit()->mutable_period()->set_seconds(60);
    user->mutable_limit()->set_burst(20);
    user->mutable_reset_after()->set_seconds(120);
    user->mutable_retry_after()->set_seconds(6);
    v1::RuleStatus* shaped = admin.buckets.add_buckets();
    shaped->set_rule("shaped");
    shaped->set_outcome(v1::ALLOWED);
    shaped->mutable_delay()->set_nanos(250'000'000);
    v1::RuleStatus* staff = admin.buckets.add_buckets();
    staff->set_rule("staff");
    staff->set_outcome(v1::ALLOWED);
    staff->set_unlimited(true);
  }
  const std::vector<std::string> args{
      "peek",     "user=ana",     "--domain=shop", "--rule=r",
      "--server", admin.target(), "--timeout=20s"};
  const Ran ran = RunTollgate(args);
  EXPECT_EQ(ran.exit_status, 0) << ran.err;
  EXPECT_EQ(ran.out,
            R"(  RULE      LIMIT      LEFT     FULL IN  RETRY IN  DELAY  OUTCOME
  per-user  10/1m      0 of 20  2m       6s               refused
  shaped    0/0        0 of 0   0        0         250ms  allowed
  staff     unlimited                                     allowed
)");
  EXPECT_THAT(RunTollgate(args, Palette::kColored).out,
              HasSubstr("\033[31mrefused\033[0m\n"));
  std::vector<std::string> json = args;
  json.emplace_back("--json");
  EXPECT_THAT(RunTollgate(json).out, HasSubstr(R"("remaining":"0")"));
  const MutexLock lock(admin.mutex);
  EXPECT_EQ(admin.peek.domain(), "shop");
  EXPECT_EQ(admin.peek.rule(), "r");
  EXPECT_EQ(admin.peek.descriptors(0).entries(0).key(), "user");
}

TEST(Peek, SaysThatNoRuleApplies) {
  AdminService admin;
  const Ran ran =
      RunTollgate({"peek", "a=b", "--timeout=20s", "--server", admin.target()});
  EXPECT_EQ(ran.exit_status, 0) << ran.err;
  EXPECT_EQ(ran.out, "no rule applies, so there is no bucket\n");
}

TEST(Reset, SaysHowManyBucketsThereWere) {
  AdminService admin;
  const std::vector<std::string> args{
      "reset",    "user=ana",     "--domain=shop", "--rule=login",
      "--server", admin.target(), "--timeout=20s"};
  EXPECT_EQ(
      RunTollgate(args).out,
      "no bucket to reset: no such rule applies, or none was taken from\n");
  for (const auto& [count, text] :
       {std::pair{1, "reset 1 bucket\n"}, std::pair{2, "reset 2 buckets\n"}}) {
    {
      const MutexLock lock(admin.mutex);
      admin.count.set_count(count);
    }
    const Ran ran = RunTollgate(args);
    EXPECT_EQ(ran.exit_status, 0) << ran.err;
    EXPECT_EQ(ran.out, text);
  }
  std::vector<std::string> json = args;
  json.emplace_back("--json");
  EXPECT_EQ(RunTollgate(json).out, "{\"count\":\"2\"}\n");
  const MutexLock lock(admin.mutex);
  EXPECT_EQ(admin.reset.domain(), "shop");
  EXPECT_EQ(admin.reset.rule(), "login");
  EXPECT_EQ(admin.reset.descriptors(0).entries(0).value(), "ana");
}

TEST(Reset, AnUnknownRuleAndNoAnswerAreErrors) {
  AdminService admin;
  {
    const MutexLock lock(admin.mutex);
    admin.status = {grpc::StatusCode::NOT_FOUND, "rule: got \"x\""};
  }
  for (const std::string command : {"peek", "reset"}) {
    const Ran ran = RunTollgate({command, "a=b", "--rule=x", "--timeout=20s",
                                 "--server", admin.target()});
    EXPECT_EQ(ran.exit_status, 2);
    EXPECT_EQ(ran.err, "tollgate " + command + ": rule: got \"x\"\n");
    const DeafPort port;
    const Ran gone = RunTollgate({command, "a=b", "--server", port.target()});
    EXPECT_EQ(gone.exit_status, 2);
    EXPECT_THAT(gone.out, IsEmpty());
    EXPECT_THAT(gone.err, HasSubstr("no answer from " + port.target()));
    EXPECT_THAT(RunTollgate({command}).err, HasSubstr("want KEY=VALUE"));
  }
}

}  // namespace
}  // namespace tollgate::cli
