// The real binary, whose rules change under traffic.
#include <signal.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"
#include "tests/support/process.h"
#include "tests/support/tcp_client.h"
#include "tests/support/temp_files.h"
#include "tollgate/v1/admin.grpc.pb.h"
#include "tollgate/v1/rate_limiter.grpc.pb.h"

namespace tollgate {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kOld[] =
    "domain: shop\nrules:\n"
    "  - {name: old, key: [user], limit: 1000000/second}\n";
constexpr char kNew[] =
    "domain: shop\nrules:\n"
    "  - {name: new-user, key: [user], limit: 2000000/second}\n"
    "  - {name: new-all, key: [], limit: 3000000/second}\n";

void SetDeadline(grpc::ClientContext& context) {
  context.set_deadline(std::chrono::system_clock::now() +
                       std::chrono::seconds(20));
}

// What an answer was decided by: "old/1000000", say.
std::string RulesOf(const v1::ShouldAllowResponse& response) {
  std::string rules;
  for (const v1::RuleStatus& status : response.statuses()) {
    absl::StrAppend(&rules, status.rule(), "/", status.limit().tokens(), " ");
  }
  return rules;
}

// The real binary with those rules.
struct Server {
  TempFiles files;
  Process process;

  explicit Server(const std::vector<std::string>& more = {})
      : process(TOLLGATE_SERVER_BINARY, Flags(more)) {
    EXPECT_TRUE(process.WaitForLine("ready: gRPC on")) << process.log();
  }

  std::vector<std::string> Flags(const std::vector<std::string>& more) const {
    std::vector<std::string> flags = {
        "--rules=" + files.Write("rules.yaml", kOld), "--listen=127.0.0.1:0",
        "--http-listen=127.0.0.1:0", "--port-file=" + files.Path("ports")};
    flags.insert(flags.end(), more.begin(), more.end());
    return flags;
  }
  [[nodiscard]] int Port(const std::string& name) const {
    return PortFrom(files.Read("ports"), name);
  }
  [[nodiscard]] std::shared_ptr<grpc::Channel> Connect() const {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    return grpc::CreateCustomChannel(absl::StrCat("127.0.0.1:", Port("grpc")),
                                     grpc::InsecureChannelCredentials(),
                                     arguments);
  }
  // As a careful editor does.
  void Replace(const char* text) const {
    std::filesystem::rename(files.Write("rules.yaml.new", text),
                            files.Path("rules.yaml"));
  }
};

// Asks until told to stop. Counts the answers by the rules that gave them.
struct Asker {
  std::atomic<int> by_old{0};
  std::atomic<int> by_new{0};
  std::atomic<int> wrong{0};
  std::atomic<bool> stop{false};
  std::thread thread;

  explicit Asker(const Server& server)
      : thread([this, channel = server.Connect()] { Run(channel); }) {}

  void Run(const std::shared_ptr<grpc::Channel>& channel) {
    const auto stub = v1::RateLimiter::NewStub(channel);
    v1::ShouldAllowRequest request;
    request.set_domain("shop");
    v1::Entry& entry = *request.add_descriptors()->add_entries();
    entry.set_key("user");
    entry.set_value("ana");
    while (!stop) {
      grpc::ClientContext context;
      SetDeadline(context);
      v1::ShouldAllowResponse response;
      const grpc::Status status =
          stub->ShouldAllow(&context, request, &response);
      const std::string rules = RulesOf(response);
      const bool allowed = status.ok() && response.outcome() == v1::ALLOWED;
      if (allowed && rules == "old/1000000 ") {
        ++by_old;
      } else if (allowed && rules == "new-user/2000000 new-all/3000000 ") {
        ++by_new;
      } else {
        ++wrong;
        ADD_FAILURE() << status.error_message() << response.DebugString();
        return;
      }
    }
  }
};

// The hash and the number of the rules in force.
v1::GetRulesResponse GetRules(v1::Admin::Stub& admin) {
  grpc::ClientContext context;
  SetDeadline(context);
  v1::GetRulesResponse response;
  EXPECT_TRUE(admin.GetRules(&context, {}, &response).ok());
  return response;
}

TEST(Reload, SwapsTheRulesAHundredTimesUnderTrafficWithoutAWrongAnswer) {
  Server server;
  std::vector<std::unique_ptr<Asker>> askers;
  for (int i = 0; i < 4; ++i) askers.push_back(std::make_unique<Asker>(server));
  const auto admin = v1::Admin::NewStub(server.Connect());
  std::string hash = GetRules(*admin).hash();
  for (int i = 1; i <= 100; ++i) {
    server.Replace(i % 2 == 1 ? kNew : kOld);
    // Every fourth time the kernel alone tells of it.
    if (i % 4 != 0) server.process.Signal(SIGHUP);
    v1::GetRulesResponse rules = GetRules(*admin);
    while (rules.hash() == hash) rules = GetRules(*admin);
    hash = rules.hash();
    EXPECT_EQ(rules.rules_size(), i % 2 == 1 ? 2 : 1);
  }
  for (const auto& asker : askers) {
    asker->stop = true;
    asker->thread.join();
    EXPECT_GT(asker->by_old, 0);
    EXPECT_GT(asker->by_new, 0);
    EXPECT_EQ(asker->wrong, 0);
  }
  EXPECT_THAT(AskHttp(server.Port("http"), "GET", "/metrics"),
              HasSubstr("tollgate_rules_last_reload_successful 1\n"));
  server.process.Signal(SIGTERM);
  EXPECT_EQ(server.process.ExitStatus(), 0) << server.process.log();
}

TEST(Reload, KeepsTheRulesOfABadFileAndSaysSoUntilItIsGood) {
  Server server;
  server.Replace("domain: shop\nrules:\n  - {name: bad, limit: 0/second}\n");
  ASSERT_TRUE(server.process.WaitForLine("warning cannot reload, 1 rules"));
  EXPECT_THAT(AskHttp(server.Port("http"), "GET", "/readyz"),
              AllOf(StartsWith("HTTP/1.1 200 "), HasSubstr("ready: 1 rules"),
                    HasSubstr("the last reload failed"),
                    HasSubstr("rules.yaml:3:"), HasSubstr("rules[0].limit")));
  EXPECT_THAT(
      AskHttp(server.Port("http"), "GET", "/metrics"),
      AllOf(HasSubstr("tollgate_rules_reloads_total{result=\"failure\"} 1\n"),
            HasSubstr("tollgate_rules_last_reload_successful 0\n")));
  EXPECT_EQ(GetRules(*v1::Admin::NewStub(server.Connect())).rules(0).name(),
            "old");

  std::filesystem::remove(server.files.Path("rules.yaml"));
  ASSERT_TRUE(server.process.WaitForLine("No such file"));
  server.Replace(kNew);
  ASSERT_TRUE(server.process.WaitForLine("reloaded: 2 rules"));
  EXPECT_EQ(AskHttp(server.Port("http"), "GET", "/readyz").find("failed"),
            std::string::npos);
  server.process.Signal(SIGTERM);
  EXPECT_EQ(server.process.ExitStatus(), 0) << server.process.log();
}

TEST(Reload, LoadsTheRulesOnSighupAlsoUnchanged) {
  Server server;
  for (int i = 0; i < 3; ++i) {
    server.process.Signal(SIGHUP);
    ASSERT_TRUE(server.process.WaitForLine("SIGHUP: reloading"));
    ASSERT_TRUE(server.process.WaitForLine("reloaded: 1 rules"));
  }
  server.process.Signal(SIGTERM);
  EXPECT_EQ(server.process.ExitStatus(), 0) << server.process.log();
}

TEST(Reload, SighupDuringTheDrainEndsNothing) {
  Server server({"--drain-delay=1h"});
  server.process.Signal(SIGTERM);
  ASSERT_TRUE(server.process.WaitForLine("SIGTERM: draining"));
  server.process.Signal(SIGHUP);
  EXPECT_THAT(AskHttp(server.Port("http"), "GET", "/readyz"),
              StartsWith("HTTP/1.1 503 "));
  server.process.Signal(SIGTERM);
  EXPECT_EQ(server.process.ExitStatus(), 1);
}

}  // namespace
}  // namespace tollgate
