// Real server processes with a state file: ended, killed, started again.
#include <signal.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/client.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/process.h"
#include "tests/support/temp_files.h"

namespace tollgate {
namespace {

using client::Client;
using client::ClientOptions;
using client::Decision;
using client::Source;
using ::testing::HasSubstr;

// A token comes back every 86 seconds: none, while this runs.
constexpr char kRules[] =
    "domain: shop\n"
    "rules:\n"
    "  - {name: all, key: [], limit: 1000/day}\n";

class Server {
 public:
  Server() : rules_("--rules=" + files_.Write("rules.yaml", kRules)) {}

  void Start(const std::string& interval) {
    process_ = std::make_unique<Process>(
        TOLLGATE_SERVER_BINARY,
        std::vector<std::string>{
            rules_, "--listen=127.0.0.1:" + std::to_string(port_),
            "--http-listen=off", "--port-file=" + files_.Path("ports"),
            "--state-file=" + files_.Path("state"),
            "--state-interval=" + interval, "--log-level=debug"});
    ASSERT_TRUE(process_->WaitForLine("ready")) << process_->log();
    port_ = PortFrom(files_.Read("ports"), "grpc");
  }
  Process& process() { return *process_; }
  [[nodiscard]] std::unique_ptr<Client> MakeClient() const {
    ClientOptions options;
    options.target = "127.0.0.1:" + std::to_string(port_);
    options.timeout = absl::Seconds(5);
    auto client = Client::Create(options);
    EXPECT_TRUE(client.ok()) << client.status();
    return *std::move(client);
  }

 private:
  TempFiles files_;
  const std::string rules_;
  int port_ = 0;
  std::unique_ptr<Process> process_;
};

enum class Answer { kAllowed, kRefused, kNone };

Answer Ask(Client& client) {
  const Decision decision = client.ShouldAllow({"shop", {{{"user", "ana"}}}});
  if (decision.source == Source::kRefusalCache) return Answer::kRefused;
  if (decision.source != Source::kService) return Answer::kNone;
  return decision.allowed ? Answer::kAllowed : Answer::kRefused;
}

// Asks until refused, or `count` were allowed. Returns how many were.
int TakeUpTo(Client& client, int count) {
  int allowed = 0;
  while (allowed < count && Ask(client) == Answer::kAllowed) ++allowed;
  return allowed;
}

TEST(StateFile, AFleetGetsTheLimitExactlyOverBothLives) {
  Server server;
  server.Start("50ms");
  std::atomic<int> allowed{0};
  std::atomic<bool> stop{false};
  std::vector<std::thread> fleet;
  for (int i = 0; i < 4; ++i) {
    fleet.emplace_back([&] {
      const auto client = server.MakeClient();
      // Until the server is gone.
      for (Answer answer = Ask(*client); answer != Answer::kNone && !stop;
           answer = Ask(*client)) {
        if (answer == Answer::kAllowed) ++allowed;
      }
    });
  }
  while (allowed < 300) std::this_thread::yield();
  server.process().Signal(SIGTERM);
  EXPECT_EQ(server.process().ExitStatus(), 0) << server.process().log();
  stop = true;
  for (std::thread& thread : fleet) thread.join();
  EXPECT_THAT(server.process().log(), HasSubstr("saved the state to"));

  server.Start("1h");
  EXPECT_THAT(server.process().log(),
              HasSubstr("restored 1 buckets of 1 rules"));
  const auto client = server.MakeClient();
  const int rest = TakeUpTo(*client, 2000);
  EXPECT_LE(allowed + rest, 1000);
  // An answer may have been lost on its way, for each thread that asked.
  EXPECT_GE(allowed + rest, 1000 - 4);
}

// Waits for a save that was logged after `after`; those logged before may still
// have to be read.
void WaitForSave(Process& process, absl::Time after) {
  absl::Time logged;
  do {
    ASSERT_TRUE(process.WaitForLine(" buckets to ")) << process.log();
    const std::vector<absl::string_view> lines =
        absl::StrSplit(process.log(), '\n', absl::SkipEmpty());
    const absl::string_view time =
        lines.back().substr(0, lines.back().find(' '));
    std::string error;
    ASSERT_TRUE(absl::ParseTime(absl::RFC3339_full, time, &logged, &error))
        << lines.back() << ": " << error;
  } while (logged <= after);
}

TEST(StateFile, ACrashForgetsOnlyWhatWasSpentSinceTheLastSave) {
  Server server;
  server.Start("50ms");
  int saved = 0;
  int since = 0;
  {
    const auto client = server.MakeClient();
    saved = TakeUpTo(*client, 300);
    // The first may have begun before that, the second has not.
    const absl::Time taken_at = absl::Now();
    WaitForSave(server.process(), taken_at);
    WaitForSave(server.process(), taken_at);
    since = TakeUpTo(*client, 50);
    server.process().Signal(SIGKILL);
    EXPECT_EQ(server.process().ExitStatus(), 128 + SIGKILL);
  }
  ASSERT_EQ(saved, 300);
  ASSERT_EQ(since, 50);

  server.Start("1h");
  const auto client = server.MakeClient();
  const int rest = TakeUpTo(*client, 2000);
  EXPECT_GE(rest, 650);
  EXPECT_LE(rest, 700);
}

TEST(StateFile, ASecondProcessIsToldThatTheFileIsTaken) {
  const TempFiles files;
  const std::vector<std::string> flags = {
      "--rules=" + files.Write("rules.yaml", kRules), "--listen=127.0.0.1:0",
      "--http-listen=off", "--state-file=" + files.Path("state")};
  Process first(TOLLGATE_SERVER_BINARY, flags);
  ASSERT_TRUE(first.WaitForLine("ready")) << first.log();
  Process second(TOLLGATE_SERVER_BINARY, flags);
  EXPECT_EQ(second.ExitStatus(), 1);
  EXPECT_THAT(second.log(), HasSubstr("which another process uses"));
}

TEST(StateFile, AServerThatCannotWriteItServesAndSaysWhy) {
  const TempFiles files;
  const std::string file = files.Write("file", "");
  Process server(
      TOLLGATE_SERVER_BINARY,
      {"--rules=" + files.Write("rules.yaml", kRules), "--listen=127.0.0.1:0",
       "--http-listen=off", "--state-file=" + file + "/state"});
  ASSERT_TRUE(server.WaitForLine("ready")) << server.log();
  server.Signal(SIGTERM);
  EXPECT_EQ(server.ExitStatus(), 0) << server.log();
  EXPECT_THAT(server.log(), HasSubstr("not saved: could not create"));
  EXPECT_THAT(server.log(), HasSubstr("Not a directory"));
}

}  // namespace
}  // namespace tollgate
