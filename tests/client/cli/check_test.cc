#include "client/cli/check.h"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include <sstream>
#include <string>
#include <vector>

#include "client/cli/cli.h"
#include "client/cli/entries.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/base/mutex.h"
#include "tests/client/cli/run_tollgate.h"
#include "tests/client/test_service.h"
#include "tests/support/status_matchers.h"

namespace tollgate::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

grpc::Status Refuse(const v1::ShouldAllowRequest& /*request*/,
                    v1::ShouldAllowResponse& response) {
  response.set_outcome(v1::REFUSED);
  response.mutable_retry_after()->set_seconds(1);
  response.mutable_retry_after()->set_nanos(500'000'000);
  v1::RuleStatus* status = response.add_statuses();
  status->set_rule("per-user");
  status->set_outcome(v1::REFUSED);
  status->mutable_limit()->set_tokens(10);
  status->mutable_limit()->mutable_period()->set_seconds(60);
  status->mutable_limit()->set_burst(20);
  status->mutable_reset_after()->set_seconds(120);
  status->mutable_retry_after()->set_nanos(500'000'000);
  status->mutable_retry_after()->set_seconds(1);
  status->set_overflow(true);
  v1::RuleStatus* trial = response.add_statuses();
  trial->set_rule("a-longer-name");
  trial->set_outcome(v1::ALLOWED);
  trial->set_remaining(7);
  trial->set_shadow(true);
  return grpc::Status::OK;
}

TEST(Check, AnAllowedRequestExitsWithZero) {
  TestService service;
  const auto server = service.Listen();
  const Ran ran = RunTollgate(
      {"check", "user=ana", "--server", service.target(), "--timeout=20s"});
  EXPECT_EQ(ran.exit_status, 0) << ran.err;
  EXPECT_EQ(ran.out, "allowed by service: no rule applies\n");
  EXPECT_THAT(ran.err, IsEmpty());
}

TEST(Check, ARefusalExitsWithOneAndShowsTheRulesInColumns) {
  TestService service(Refuse);
  const auto server = service.Listen();
  const Ran ran = RunTollgate(
      {"check", "user=ana", "--server=" + service.target(), "--timeout=20s"});
  EXPECT_EQ(ran.exit_status, 1);
  EXPECT_EQ(
      ran.out,
      "refused by service, try again in 1.5s\n"
      "  RULE           LIMIT  LEFT     FULL IN  RETRY IN  OUTCOME\n"
      "  per-user       10/1m  0 of 20  2m       1.5s      refused (overflow)\n"
      "  a-longer-name  0/0    7 of 0   0        0         allowed "
      "(shadow)\n");
}

TEST(Check, AnImpossibleCostExitsWithOne) {
  TestService service([](const auto&, v1::ShouldAllowResponse& response) {
    response.set_outcome(v1::IMPOSSIBLE);
    return grpc::Status::OK;
  });
  const auto server = service.Listen();
  const Ran ran = RunTollgate(
      {"check", "user=ana", "--server", service.target(), "--timeout=20s"});
  EXPECT_EQ(ran.exit_status, 1);
  EXPECT_THAT(ran.out, StartsWith("impossible by service, waiting"));
}

grpc::Status Shape(const v1::ShouldAllowRequest& /*request*/,
                   v1::ShouldAllowResponse& response) {
  response.mutable_delay()->set_seconds(2);
  response.set_ticket("\x01\xff");
  response.mutable_decided_at()->set_seconds(1'700'000'000);
  v1::RuleStatus* shaped = response.add_statuses();
  shaped->set_rule("shaped");
  shaped->set_outcome(v1::ALLOWED);
  shaped->mutable_limit()->set_tokens(1);
  shaped->mutable_limit()->mutable_period()->set_seconds(1);
  shaped->mutable_limit()->set_burst(1);
  shaped->mutable_delay()->set_seconds(2);
  v1::RuleStatus* staff = response.add_statuses();
  staff->set_rule("staff");
  staff->set_outcome(v1::ALLOWED);
  staff->set_unlimited(true);
  return grpc::Status::OK;
}

TEST(Check, ShowsADelayAnAllowListAndATicket) {
  TestService service(Shape);
  const auto server = service.Listen();
  std::vector<std::string> args{"check", "user=ana", "--timeout=20s",
                                "--server=" + service.target()};
  const Ran ran = RunTollgate(args);
  EXPECT_EQ(ran.exit_status, 0) << ran.err;
  EXPECT_EQ(ran.out,
            "allowed by service, but go ahead only in 2s\n"
            "  RULE    LIMIT      LEFT    FULL IN  RETRY IN  DELAY  OUTCOME\n"
            "  shaped  1/1s       0 of 1  0        0         2s     allowed\n"
            "  staff   unlimited                                    allowed\n"
            "It holds slots until they expire; --json has the ticket to "
            "release them.\n");
  args.emplace_back("--json");
  const Ran json = RunTollgate(args);
  EXPECT_THAT(json.out, HasSubstr(R"("ticket":"Af8=")"));
  EXPECT_THAT(json.out, HasSubstr(R"("delay":"2s")"));
  EXPECT_THAT(json.out, HasSubstr(R"("unlimited":true)"));
  EXPECT_THAT(json.out, HasSubstr(R"("decidedAt":"2023-11-14T22:13:20Z")"));
}

TEST(Check, ColoursTheOutcomeOnATerminal) {
  TestService service(Refuse);
  const auto server = service.Listen();
  const Ran ran = RunTollgate(
      {"check", "user=ana", "--timeout=20s", "--server", service.target()},
      Palette::kColored);
  EXPECT_THAT(ran.out, StartsWith("\033[31mrefused\033[0m by service"));
}

TEST(Check, PrintsTheResponseAsProto3JsonWithTheSource) {
  TestService service(Refuse);
  const auto server = service.Listen();
  const Ran ran = RunTollgate({"check", "user=ana", "--json", "--timeout=20s",
                               "--server", service.target()});
  EXPECT_EQ(ran.exit_status, 1);
  google::protobuf::Struct json;
  ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(ran.out, &json).ok())
      << ran.out;
  EXPECT_EQ(json.fields().at("source").string_value(), "service");
  EXPECT_EQ(json.fields().count("error"), 0);
  // What is zero is said too.
  EXPECT_THAT(ran.out, HasSubstr(R"("remaining":"0")"));
  EXPECT_THAT(ran.out, HasSubstr(R"("shadow":false)"));
  EXPECT_THAT(ran.out, HasSubstr(R"("retryAfter":"1.500s")"));
  // The rest is the response, as any proto3 JSON parser reads it.
  google::protobuf::util::JsonParseOptions ignore_source;
  ignore_source.ignore_unknown_fields = true;
  v1::ShouldAllowResponse read;
  ASSERT_TRUE(
      google::protobuf::util::JsonStringToMessage(ran.out, &read, ignore_source)
          .ok());
  EXPECT_EQ(read.outcome(), v1::REFUSED);
  ASSERT_EQ(read.statuses_size(), 2);
  EXPECT_EQ(read.statuses(0).rule(), "per-user");
  EXPECT_EQ(read.statuses(0).limit().period().seconds(), 60);
  EXPECT_EQ(read.statuses(0).reset_after().seconds(), 120);
  EXPECT_EQ(read.statuses(1).remaining(), 7);
  EXPECT_TRUE(read.statuses(1).shadow());
}

TEST(Check, SendsTheDomainTheCostAndEveryDescriptorInOrder) {
  Mutex mutex;  // the network orders the two threads; the detector cannot see
  v1::ShouldAllowRequest seen;
  TestService service(
      [&](const v1::ShouldAllowRequest& request, v1::ShouldAllowResponse&) {
        MutexLock lock(mutex);
        seen = request;
        return grpc::Status::OK;
      });
  const auto server = service.Listen();
  const Ran ran = RunTollgate({"check", "user=ana", "note=a=b c",
                               "--domain=shop", "--cost=0", "--descriptor",
                               "ip=192.0.2.1  plan=", "--descriptor", "k=v",
                               "--timeout=20s", "--server", service.target()});
  ASSERT_EQ(ran.exit_status, 0) << ran.err;
  MutexLock lock(mutex);
  EXPECT_EQ(seen.domain(), "shop");
  EXPECT_TRUE(seen.has_cost());
  EXPECT_EQ(seen.cost(), 0);
  ASSERT_EQ(seen.descriptors_size(), 3);
  ASSERT_EQ(seen.descriptors(0).entries_size(), 2);
  EXPECT_EQ(seen.descriptors(0).entries(1).key(), "note");
  EXPECT_EQ(seen.descriptors(0).entries(1).value(), "a=b c");
  ASSERT_EQ(seen.descriptors(1).entries_size(), 2);
  EXPECT_EQ(seen.descriptors(1).entries(0).value(), "192.0.2.1");
  EXPECT_EQ(seen.descriptors(1).entries(1).key(), "plan");
  EXPECT_EQ(seen.descriptors(1).entries(1).value(), "");
  EXPECT_EQ(seen.descriptors(2).entries(0).key(), "k");
}

TEST(Check, AnUnreachableServiceIsAnError) {
  const DeafPort port;
  const Ran ran = RunTollgate({"check", "user=ana", "--server", port.target()});
  EXPECT_EQ(ran.exit_status, 2);
  EXPECT_THAT(ran.out, IsEmpty());
  EXPECT_THAT(ran.err,
              HasSubstr("no answer from " + port.target() + ": UNAVAILABLE"));
  EXPECT_THAT(ran.err, HasSubstr("allowed by backstop"));
}

TEST(Check, AnUnreachableServiceStillPrintsJsonWithTheSource) {
  const DeafPort port;
  const Ran ran =
      RunTollgate({"check", "user=ana", "--json", "--server", port.target()});
  EXPECT_EQ(ran.exit_status, 2);
  google::protobuf::Struct json;
  ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(ran.out, &json).ok())
      << ran.out;
  EXPECT_EQ(json.fields().at("source").string_value(), "backstop");
  EXPECT_EQ(json.fields().at("outcome").string_value(), "ALLOWED");
  EXPECT_EQ(json.fields()
                .at("error")
                .struct_value()
                .fields()
                .at("code")
                .string_value(),
            "UNAVAILABLE");
}

TEST(Check, ABadRequestIsAnErrorThatNamesTheField) {
  const DeafPort port;
  const Ran ran = RunTollgate(
      {"check", "user=" + std::string(4097, 'x'), "--server", port.target()});
  EXPECT_EQ(ran.exit_status, 2);
  EXPECT_THAT(ran.err, HasSubstr("descriptors[0].entries[0].value"));
}

TEST(Check, WrongUseIsAnErrorThatSaysWhatIsWanted) {
  struct Case {
    std::vector<std::string> args;
    std::string message;
  };
  const Case cases[] = {
      {{"check"}, "want KEY=VALUE... or --descriptor"},
      {{"check", "user"}, "got \"user\", want KEY=VALUE"},
      {{"check", "=ana"}, "got \"=ana\", want KEY=VALUE"},
      {{"check", "a=b", "--descriptor", " "}, "descriptor: got none"},
      {{"check", "a=b", "--descriptor", "c"}, "got \"c\", want KEY=VALUE"},
      {{"check", "a=b", "--timeout=soon"}, "--timeout: got \"soon\""},
      {{"check", "a=b", "--timeout=0"}, "timeout: got 0, want 1ms to 1m"},
      {{"check", "a=b", "--cost=-1"}, "--cost"},
      {{"check", "a=b", "--cost=4294967296"}, "--cost"},
      {{"check", "a=b", "--server="}, "--server"},
      {{"check", "a=b", "--colour"}, "--colour"},
      {{}, "want a command"},
      {{"guess"}, "guess"},
  };
  for (const Case& c : cases) {
    const Ran ran = RunTollgate(c.args);
    EXPECT_EQ(ran.exit_status, 2) << c.message;
    EXPECT_THAT(ran.err, HasSubstr(c.message));
    EXPECT_THAT(ran.out, IsEmpty());
  }
}

TEST(Cli, HelpGoesToTheOutputAndShowsExamples) {
  for (const std::string command :
       {"check", "explain", "rules", "peek", "reset", "validate", "bench"}) {
    const Ran ran = RunTollgate({command, "--help"});
    EXPECT_EQ(ran.exit_status, 0);
    EXPECT_THAT(ran.out, HasSubstr("Examples:\n  tollgate " + command));
  }
  EXPECT_THAT(RunTollgate({"--help"}).out, HasSubstr("tollgate check"));
}

TEST(Cli, PrintsItsVersion) {
  const Ran ran = RunTollgate({"version"});
  EXPECT_EQ(ran.exit_status, 0);
  EXPECT_THAT(ran.out, testing::MatchesRegex("tollgate [0-9.]+\n"));
}

}  // namespace
}  // namespace tollgate::cli
