// The real binary: its exit status, its signals, its port file.
#include <signal.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/app/two_rules.h"
#include "tests/support/process.h"
#include "tests/support/tcp_client.h"
#include "tests/support/temp_files.h"

namespace tollgate {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

struct Local {
  TempFiles files;
  std::string rules = "--rules=" + files.Write("rules.yaml", kTwoRules);

  [[nodiscard]] std::vector<std::string> Flags(
      const std::vector<std::string>& more = {}) const {
    std::vector<std::string> flags = {rules, "--listen=127.0.0.1:0",
                                      "--http-listen=127.0.0.1:0",
                                      "--port-file=" + files.Path("ports")};
    flags.insert(flags.end(), more.begin(), more.end());
    return flags;
  }
  [[nodiscard]] int Port(const std::string& name) const {
    return PortFrom(files.Read("ports"), name);
  }
};

// The real binary with those flags.
class Server : public Process {
 public:
  explicit Server(const std::vector<std::string>& flags)
      : Process(TOLLGATE_SERVER_BINARY, flags) {}
};

TEST(ServerProcess, SaysWhereItListensAndExitsWith0OnSigterm) {
  const Local local;
  Server server(local.Flags());
  ASSERT_TRUE(server.WaitForLine("ready: gRPC on 127.0.0.1:")) << server.log();
  EXPECT_THAT(server.log(), HasSubstr("2 rules (hash "));
  EXPECT_GT(local.Port("grpc"), 0);
  EXPECT_THAT(AskHttp(local.Port("http"), "GET", "/readyz"),
              StartsWith("HTTP/1.1 200 "));
  server.Signal(SIGTERM);
  EXPECT_EQ(server.ExitStatus(), 0) << server.log();
}

TEST(ServerProcess, ExitsWith0OnSigintToo) {
  const Local local;
  Server server(local.Flags());
  ASSERT_TRUE(server.WaitForLine("ready: gRPC on")) << server.log();
  server.Signal(SIGINT);
  EXPECT_EQ(server.ExitStatus(), 0) << server.log();
}

TEST(ServerProcess, LogsNothingButJsonIfAsked) {
  const Local local;
  Server first(local.Flags());
  ASSERT_TRUE(first.WaitForLine("ready: gRPC on")) << first.log();
  // gRPC itself logs how it starts.
  ASSERT_EQ(::setenv("GRPC_VERBOSITY", "DEBUG", /*overwrite=*/1), 0);
  Server second({local.rules, "--http-listen=127.0.0.1:0", "--log-format=json",
                 "--log-level=debug", "--listen=127.0.0.1:0"});
  ::unsetenv("GRPC_VERBOSITY");
  ASSERT_TRUE(second.WaitForLine("ready: gRPC on")) << second.log();
  second.Signal(SIGTERM);
  EXPECT_EQ(second.ExitStatus(), 0);
  EXPECT_THAT(second.log(), HasSubstr("grpc: "));
  for (const absl::string_view line : absl::StrSplit(second.log(), '\n')) {
    if (line.empty()) continue;
    EXPECT_TRUE(absl::StartsWith(line, "{\"time\":\"") &&
                absl::EndsWith(line, "\"}"))
        << line;
  }
}

TEST(ServerProcess, IsNotReadyDuringTheDelayAndASecondSignalEndsItWith1) {
  const Local local;
  Server server(local.Flags({"--drain-delay=1h"}));
  ASSERT_TRUE(server.WaitForLine("ready: gRPC on")) << server.log();
  server.Signal(SIGTERM);
  ASSERT_TRUE(server.WaitForLine("SIGTERM: draining")) << server.log();
  EXPECT_THAT(AskHttp(local.Port("http"), "GET", "/readyz"),
              AllOf(StartsWith("HTTP/1.1 503 "), HasSubstr("draining")));
  server.Signal(SIGTERM);
  EXPECT_EQ(server.ExitStatus(), 1) << server.log();
}

TEST(ServerProcess, ExitsWith2ForABadFlag) {
  Server server({"--rules=x", "--threads=many"});
  EXPECT_EQ(server.ExitStatus(), 2);
  EXPECT_THAT(server.log(), HasSubstr("--threads: got \"many\", want"));
}

TEST(ServerProcess, ExitsWith2ForBadRulesAndNamesThem) {
  const TempFiles files;
  const std::string rules = files.Write(
      "rules.yaml",
      "domain: shop\nrules:\n  - {name: a, key: [user], limit: 0/second}\n");
  Server server({"--rules=" + rules, "--listen=127.0.0.1:0"});
  EXPECT_EQ(server.ExitStatus(), 2);
  EXPECT_THAT(server.log(), HasSubstr("rules[0].limit"));
}

TEST(ServerProcess, ExitsWith1WhereItCannotListenOrWriteItsPorts) {
  const Local local;
  Server first(local.Flags());
  ASSERT_TRUE(first.WaitForLine("ready: gRPC on")) << first.log();
  Server second({local.rules, "--http-listen=off",
                 "--listen=127.0.0.1:" + std::to_string(local.Port("grpc"))});
  EXPECT_EQ(second.ExitStatus(), 1) << second.log();
  EXPECT_THAT(second.log(), HasSubstr("cannot listen for gRPC on"));
  Server third({local.rules, "--http-listen=off", "--listen=127.0.0.1:0",
                "--port-file=/nonexistent/ports"});
  EXPECT_EQ(third.ExitStatus(), 1) << third.log();
  EXPECT_THAT(third.log(), HasSubstr("--port-file: got"));
}

TEST(ServerProcess, PrintsItsVersionAndItsHelp) {
  Server version({"--version"});
  EXPECT_EQ(version.ExitStatus(), 0);
  EXPECT_THAT(version.log(), StartsWith("tollgate-server "));
  Server help({"--help"});
  EXPECT_EQ(help.ExitStatus(), 0);
  EXPECT_THAT(help.log(), HasSubstr("Examples:"));
}

}  // namespace
}  // namespace tollgate
