// A rolling restart: two replicas behind one client that knows both addresses,
// each ended by SIGTERM and started again on its port, under load.
#include <signal.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/client.h"
#include "gtest/gtest.h"
#include "server/base/mutex.h"
#include "tests/support/process.h"
#include "tests/support/redis_process.h"
#include "tests/support/tcp_client.h"
#include "tests/support/temp_files.h"

namespace tollgate {
namespace {

using client::Client;
using client::Decision;
using client::Source;

constexpr int kLimit = 1000;
// A token comes back every 86 seconds: none of `counted`, while this runs.
constexpr char kRules[] =
    "domain: shop\n"
    "rules:\n"
    "  - {name: load, match: {kind: load}, key: [], limit: 1000000000/second}\n"
    "  - {name: counted, match: {kind: counted}, key: [], limit: 1000/day}\n";

class Replica {
 public:
  // `state`: a flag that says where its buckets are kept.
  explicit Replica(std::string state) : state_(std::move(state)) { Start(); }

  void Restart() {
    process_->Signal(SIGTERM);
    EXPECT_EQ(process_->ExitStatus(), 0) << process_->log();
    Start();
  }
  // Whether it has been asked since it started.
  [[nodiscard]] bool IsAsked() const {
    const std::string metrics = AskHttp(http_port_, "GET", "/metrics");
    return absl::StrContains(metrics, "rule=\"load\"") &&
           !absl::StrContains(metrics,
                              "tollgate_decisions_total{domain=\"shop\","
                              "rule=\"load\",outcome=\"allowed\"} 0\n");
  }
  [[nodiscard]] int port() const { return port_; }

 private:
  void Start() {
    process_ = std::make_unique<Process>(
        TOLLGATE_SERVER_BINARY,
        std::vector<std::string>{
            "--rules=" + files_.Write("rules.yaml", kRules), state_,
            absl::StrCat("--listen=127.0.0.1:", port_),
            "--http-listen=127.0.0.1:0", "--port-file=" + files_.Path("ports"),
            "--store-timeout=10s", "--drain-delay=2s"});
    ASSERT_TRUE(process_->WaitForLine("ready")) << process_->log();
    port_ = PortFrom(files_.Read("ports"), "grpc");
    http_port_ = PortFrom(files_.Read("ports"), "http");
  }

  const TempFiles files_;
  const std::string state_;
  int port_ = 0;
  int http_port_ = 0;
  std::unique_ptr<Process> process_;
};

// Threads that share a client and ask without a pause.
class Load {
 public:
  explicit Load(const Replica& one, const Replica& other) {
    client::ClientOptions options;
    options.target = absl::StrCat("ipv4:127.0.0.1:", one.port(),
                                  ",127.0.0.1:", other.port());
    options.load_balancing = client::LoadBalancing::kRoundRobin;
    options.timeout = absl::Seconds(20);
    options.refusal_cache_ttl = absl::ZeroDuration();
    options.max_batch = 1;  // so that as many calls as can be are under way
    auto client = Client::Create(options);
    EXPECT_TRUE(client.ok()) << client.status();
    client_ = *std::move(client);
    for (int i = 0; i < 4; ++i) {
      threads_.emplace_back([this] {
        for (int n = 0; !stop_; ++n) Ask(n % 50 == 0 ? "counted" : "load");
      });
    }
  }
  ~Load() { Stop(); }

  void Stop() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }
  // Takes what is left of the tokens that are counted.
  void TakeTheRest() {
    for (int refused = 0; refused < 20;) {
      refused = Ask("counted") ? 0 : refused + 1;
    }
  }
  [[nodiscard]] int counted() const { return counted_; }
  [[nodiscard]] int failed() const { return failed_; }
  [[nodiscard]] std::string first_error() {
    MutexLock lock(mutex_);
    return first_error_;
  }

 private:
  bool Ask(const std::string& kind) {
    const Decision decision =
        client_->ShouldAllow({"shop", {{{"kind", kind}}}});
    if (decision.source != Source::kService && failed_++ == 0) {
      MutexLock lock(mutex_);
      first_error_ = decision.error.ToString();
    }
    if (decision.allowed && kind == "counted") ++counted_;
    return decision.allowed;
  }

  std::unique_ptr<Client> client_;
  std::atomic<bool> stop_{false};
  std::atomic<int> counted_{0};
  std::atomic<int> failed_{0};  // calls that no server decided
  Mutex mutex_;
  std::string first_error_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::thread> threads_;
};

// Each in turn, and once more, while both are asked. What was admitted of what
// is counted.
int RestartEachInTurn(Replica& one, Replica& other) {
  Load load(one, other);
  for (int round = 0; round < 2; ++round) {
    for (Replica* replica : {&one, &other}) {
      EXPECT_TRUE(WaitUntil([&] { return one.IsAsked() && other.IsAsked(); }));
      replica->Restart();
    }
  }
  EXPECT_TRUE(WaitUntil([&] { return one.IsAsked() && other.IsAsked(); }));
  load.Stop();
  load.TakeTheRest();
  EXPECT_EQ(load.failed(), 0) << load.first_error();
  return load.counted();
}

TEST(RollingRestart, LosesNoCallAndNoTokenOfStateFiles) {
  const TempFiles files;
  Replica one("--state-file=" + files.Path("one"));
  Replica other("--state-file=" + files.Path("other"));
  // Each has a limit of its own, as the rule reference says.
  EXPECT_EQ(RestartEachInTurn(one, other), 2 * kLimit);
}

TEST(RollingRestart, LosesNoCallAndNoTokenOfRedis) {
  const RedisProcess redis;
  Replica one("--store=" + redis.url());
  Replica other("--store=" + redis.url());
  EXPECT_EQ(RestartEachInTurn(one, other), kLimit);
}

}  // namespace
}  // namespace tollgate
