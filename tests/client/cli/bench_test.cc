#include "client/cli/bench.h"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>
#include <unistd.h>

#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/base/mutex.h"
#include "tests/client/cli/run_tollgate.h"
#include "tests/client/test_service.h"

namespace tollgate::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

google::protobuf::Map<std::string, google::protobuf::Value> ParseJson(
    const std::string& text) {
  google::protobuf::Struct json;
  EXPECT_TRUE(google::protobuf::util::JsonStringToMessage(text, &json).ok())
      << text;
  return json.fields();
}

TEST(Bench, CountsEachDecisionOfUnaryCalls) {
  TestService service;
  const auto server = service.Listen();
  const Ran ran =
      RunTollgate({"bench", "--json", "--duration=200ms", "--connections=3",
                   "--in-flight=4", "--server-pid", absl::StrCat(::getpid()),
                   "--server", service.target()});
  ASSERT_EQ(ran.exit_status, 0) << ran.err;
  auto json = ParseJson(ran.out);
  EXPECT_EQ(json["mode"].string_value(), "unary");
  EXPECT_EQ(json["batch_size"].number_value(), 1);
  // Each connection also asks once before the clock starts.
  EXPECT_EQ(json["decisions"].number_value(), service.calls() - 3);
  EXPECT_EQ(json["calls"].number_value(), json["decisions"].number_value());
  EXPECT_EQ(json["allowed"].number_value(), json["decisions"].number_value());
  EXPECT_EQ(json["errors"].number_value(), 0);
  EXPECT_GE(json["seconds"].number_value(), 0.2);
  auto latency = json["latency_us"].struct_value().fields();
  EXPECT_GT(latency["p50"].number_value(), 0);
  EXPECT_LE(latency["p50"].number_value(), latency["p99"].number_value());
  EXPECT_LE(latency["p99"].number_value(), latency["p999"].number_value());
  EXPECT_LE(latency["p999"].number_value(), latency["max"].number_value());
  EXPECT_GT(json["server_cpu_us_per_decision"].number_value(), 0);
}

TEST(Bench, CountsEachDecisionOfBatches) {
  TestService service;
  const auto server = service.Listen();
  const Ran ran = RunTollgate({"bench", "--mode=batch", "--batch-size=7",
                               "--json", "--duration=200ms", "--connections=1",
                               "--in-flight=2", "--server", service.target()});
  ASSERT_EQ(ran.exit_status, 0) << ran.err;
  auto json = ParseJson(ran.out);
  EXPECT_EQ(json["decisions"].number_value(), service.calls() - 1);
  EXPECT_EQ(json["decisions"].number_value(), 7 * json["calls"].number_value());
  EXPECT_EQ(json["server_cpu_us_per_decision"].kind_case(),
            google::protobuf::Value::kNullValue);
}

TEST(Bench, ComparesTheClientLibrarysWaysToAsk) {
  TestService service;
  const auto server = service.Listen();
  for (const char* callers : {"--callers=3", "--callers=0"}) {
    const Ran ran = RunTollgate({"bench", "--mode=client", callers, "--json",
                                 "--duration=300ms", "--in-flight=8",
                                 "--server", service.target()});
    ASSERT_EQ(ran.exit_status, 0) << ran.err;
    auto json = ParseJson(ran.out);
    for (const char* way : {"plain", "coalesced"}) {
      auto load = json[way].struct_value().fields();
      EXPECT_GT(load["decisions"].number_value(), 0) << way;
      EXPECT_EQ(load["errors"].number_value(), 0)
          << load["first_error"].string_value();
      EXPECT_GE(load["seconds"].number_value(), 0.15) << way;
      EXPECT_GT(
          load["latency_us"].struct_value().fields().at("p50").number_value(),
          0);
    }
    EXPECT_GT(json["ratio"].number_value(), 0);
  }
}

TEST(Bench, SaysThatNoRuleApplied) {
  TestService unmatched(
      [](const v1::ShouldAllowRequest&, v1::ShouldAllowResponse& response) {
        response.set_outcome(v1::ALLOWED);
        return grpc::Status::OK;
      });
  const auto server = unmatched.Listen();
  const Ran ran = RunTollgate({"bench", "--duration=50ms", "--domain=shpo",
                               "--server", unmatched.target()});
  EXPECT_THAT(ran.out, HasSubstr("no rule applied to"));
  EXPECT_THAT(ran.out, HasSubstr("domain \"shpo\", \"user={key}\""));
}

TEST(Bench, SaysNothingOfRulesThatApplied) {
  TestService matched(
      [](const v1::ShouldAllowRequest&, v1::ShouldAllowResponse& response) {
        response.set_outcome(v1::ALLOWED);
        response.add_statuses();
        return grpc::Status::OK;
      });
  const auto server = matched.Listen();
  const Ran ran =
      RunTollgate({"bench", "--duration=50ms", "--server", matched.target()});
  EXPECT_THAT(ran.out, Not(HasSubstr("no rule applied")));
}

TEST(Bench, AsksForEveryKeyOfTheDescriptor) {
  Mutex mutex;
  std::set<std::string> seen;
  TestService service(
      [&](const v1::ShouldAllowRequest& request, v1::ShouldAllowResponse&) {
        MutexLock lock(mutex);
        const v1::Descriptor& descriptor = request.descriptors(0);
        EXPECT_EQ(request.domain(), "shop");
        EXPECT_EQ(descriptor.entries(0).value(), "GET");
        if (!request.has_cost() || request.cost() > 0) {
          seen.insert(descriptor.entries(1).value());
        }
        return grpc::Status::OK;
      });
  const auto server = service.Listen();
  const Ran ran = RunTollgate(
      {"bench", "--duration=300ms", "--keys=3", "--domain=shop", "--descriptor",
       "method=GET user=u{key}x", "--server", service.target()});
  ASSERT_EQ(ran.exit_status, 0) << ran.err;
  MutexLock lock(mutex);
  EXPECT_THAT(seen, testing::ElementsAre("u0x", "u1x", "u2x"));
  EXPECT_THAT(ran.out, HasSubstr("decisions/s"));
  EXPECT_THAT(ran.out, HasSubstr("p999"));
}

TEST(Bench, CountsErrorsAndSaysOneOfThem) {
  TestService service(
      [](const v1::ShouldAllowRequest& request, v1::ShouldAllowResponse&) {
        if (request.cost() == 0) return grpc::Status::OK;
        return grpc::Status(grpc::StatusCode::INTERNAL, "broken");
      });
  const auto server = service.Listen();
  for (const std::string mode : {"unary", "batch"}) {
    const Ran ran = RunTollgate({"bench", "--mode=" + mode, "--duration=50ms",
                                 "--server", service.target()});
    EXPECT_EQ(ran.exit_status, 2);
    EXPECT_THAT(ran.out, HasSubstr("such as INTERNAL: broken"));
  }
}

TEST(Bench, WrongUseIsAnErrorThatSaysWhatIsWanted) {
  struct Case {
    std::vector<std::string> args;
    std::string message;
  };
  const DeafPort port;
  const Case cases[] = {
      {{"--mode=stream"}, "--mode"},
      {{"--duration=0s"}, "--duration: got 0s, want 1ms to 24h"},
      {{"--duration=x"}, "--duration: got \"x\""},
      {{"--keys=0"}, "--keys"},
      {{"--connections=0"}, "--connections"},
      {{"--batch-size=1001"}, "--batch-size"},
      {{"--descriptor=user"}, "want KEY=VALUE"},
      {{"--metrics=here"}, "--metrics: got \"here\", want HOST:PORT"},
      {{"--metrics=" + port.target()}, "--metrics: no answer from http://"},
      {{"--server=" + port.target()}, "no answer from " + port.target()},
      {{"--server-pid=99999999"}, "no process has the id 99999999"},
      {{"--server-pid=1", "--metrics=127.0.0.1:1"}, "excludes"},
  };
  for (const Case& c : cases) {
    std::vector<std::string> args{"bench"};
    args.insert(args.end(), c.args.begin(), c.args.end());
    const Ran ran = RunTollgate(args);
    EXPECT_EQ(ran.exit_status, 2) << c.message;
    EXPECT_THAT(ran.err, HasSubstr(c.message));
  }
}

}  // namespace
}  // namespace tollgate::cli
