// The real binary: its exit status, its signals, its port file.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/app/temp_files.h"
#include "tests/support/tcp_client.h"

namespace tollgate {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// A tollgate-server whose log we read.
class Process {
 public:
  explicit Process(std::vector<std::string> flags) {
    flags.insert(flags.begin(), TOLLGATE_SERVER_BINARY);
    std::vector<char*> argv;
    for (std::string& flag : flags) argv.push_back(flag.data());
    argv.push_back(nullptr);
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(ends[1], STDERR_FILENO);
      ::dup2(ends[1], STDOUT_FILENO);
      ::close(ends[0]);
      ::close(ends[1]);
      ::execv(argv[0], argv.data());
      ::_exit(127);
    }
    ::close(ends[1]);
    output_ = ::fdopen(ends[0], "r");
  }
  ~Process() {
    if (pid_ > 0) {
      Signal(SIGKILL);
      ExitStatus();
    }
    std::fclose(output_);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // Reads the log up to the line that holds `text`; false if it ended first.
  bool WaitForLine(const std::string& text) {
    char line[4096];
    while (std::fgets(line, sizeof(line), output_) != nullptr) {
      log_ += line;
      if (std::string(line).find(text) != std::string::npos) return true;
    }
    return false;
  }
  void Signal(int signal) const { ::kill(pid_, signal); }
  // Waits until it ends; 128 + n if signal n ended it.
  int ExitStatus() {
    WaitForLine("\x01");  // the end of the log
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  [[nodiscard]] const std::string& log() const { return log_; }

 private:
  pid_t pid_ = -1;
  std::FILE* output_ = nullptr;
  std::string log_;
};

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
  // The port that the port file says for `name`.
  [[nodiscard]] int Port(const std::string& name) const {
    int port = 0;
    for (absl::string_view line : absl::StrSplit(files.Read("ports"), '\n')) {
      if (absl::ConsumePrefix(&line, name + "=")) {
        EXPECT_TRUE(absl::SimpleAtoi(line, &port));
      }
    }
    return port;
  }
};

TEST(ServerProcess, SaysWhereItListensAndExitsWith0OnSigterm) {
  const Local local;
  Process server(local.Flags());
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
  Process server(local.Flags());
  ASSERT_TRUE(server.WaitForLine("ready: gRPC on")) << server.log();
  server.Signal(SIGINT);
  EXPECT_EQ(server.ExitStatus(), 0) << server.log();
}

TEST(ServerProcess, LogsNothingButJsonIfAsked) {
  const Local local;
  Process first(local.Flags());
  ASSERT_TRUE(first.WaitForLine("ready: gRPC on")) << first.log();
  // gRPC itself logs that it cannot bind.
  Process second({local.rules, "--http-listen=off", "--log-format=json",
                  "--listen=127.0.0.1:" + std::to_string(local.Port("grpc"))});
  EXPECT_EQ(second.ExitStatus(), 1);
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
  Process server(local.Flags({"--drain-delay=1h"}));
  ASSERT_TRUE(server.WaitForLine("ready: gRPC on")) << server.log();
  server.Signal(SIGTERM);
  ASSERT_TRUE(server.WaitForLine("SIGTERM: draining")) << server.log();
  EXPECT_THAT(AskHttp(local.Port("http"), "GET", "/readyz"),
              AllOf(StartsWith("HTTP/1.1 503 "), HasSubstr("draining")));
  server.Signal(SIGTERM);
  EXPECT_EQ(server.ExitStatus(), 1) << server.log();
}

TEST(ServerProcess, ExitsWith2ForABadFlag) {
  Process server({"--rules=x", "--threads=many"});
  EXPECT_EQ(server.ExitStatus(), 2);
  EXPECT_THAT(server.log(), HasSubstr("--threads: got \"many\", want"));
}

TEST(ServerProcess, ExitsWith2ForBadRulesAndNamesThem) {
  const TempFiles files;
  const std::string rules = files.Write(
      "rules.yaml",
      "domain: shop\nrules:\n  - {name: a, key: [user], limit: 0/second}\n");
  Process server({"--rules=" + rules, "--listen=127.0.0.1:0"});
  EXPECT_EQ(server.ExitStatus(), 2);
  EXPECT_THAT(server.log(), HasSubstr("rules[0].limit"));
}

TEST(ServerProcess, ExitsWith1WhereItCannotListenOrWriteItsPorts) {
  const Local local;
  Process first(local.Flags());
  ASSERT_TRUE(first.WaitForLine("ready: gRPC on")) << first.log();
  Process second({local.rules, "--http-listen=off",
                  "--listen=127.0.0.1:" + std::to_string(local.Port("grpc"))});
  EXPECT_EQ(second.ExitStatus(), 1) << second.log();
  EXPECT_THAT(second.log(), HasSubstr("cannot listen for gRPC on"));
  Process third({local.rules, "--http-listen=off", "--listen=127.0.0.1:0",
                 "--port-file=/nonexistent/ports"});
  EXPECT_EQ(third.ExitStatus(), 1) << third.log();
  EXPECT_THAT(third.log(), HasSubstr("--port-file: got"));
}

TEST(ServerProcess, PrintsItsVersionAndItsHelp) {
  Process version({"--version"});
  EXPECT_EQ(version.ExitStatus(), 0);
  EXPECT_THAT(version.log(), StartsWith("tollgate-server "));
  Process help({"--help"});
  EXPECT_EQ(help.ExitStatus(), 0);
  EXPECT_THAT(help.log(), HasSubstr("Examples:"));
}

}  // namespace
}  // namespace tollgate
