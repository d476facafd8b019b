// A real server process and real clients: killed, paused, started again.
#include <signal.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

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

// What a loaded machine, or a sanitizer, may add to a wait.
constexpr absl::Duration kSlack = absl::Seconds(1);
constexpr absl::Duration kTimeout = absl::Milliseconds(100);

constexpr char kRules[] =
    "domain: shop\n"
    "rules:\n"
    "  - {name: per-user, key: [user], limit: 100/day}\n"
    "  - {name: all, key: [], limit: 1000000000/day}\n";

class Fleet {
 public:
  Fleet() : rules_("--rules=" + files_.Write("rules.yaml", kRules)) {
    Start("127.0.0.1:0");
  }

  // Starts the server again, on the port that it had.
  void Restart() { Start("127.0.0.1:" + std::to_string(port_)); }
  Process& server() { return *server_; }

  [[nodiscard]] std::unique_ptr<Client> MakeClient() const {
    ClientOptions options;
    options.target = "127.0.0.1:" + std::to_string(port_);
    options.timeout = kTimeout;
    auto client = Client::Create(options);
    EXPECT_TRUE(client.ok()) << client.status();
    return *std::move(client);
  }

 private:
  void Start(const std::string& listen) {
    server_ = std::make_unique<Process>(
        TOLLGATE_SERVER_BINARY,
        std::vector<std::string>{rules_, "--listen=" + listen,
                                 "--http-listen=off",
                                 "--port-file=" + files_.Path("ports")});
    ASSERT_TRUE(server_->WaitForLine("ready")) << server_->log();
    port_ = PortFrom(files_.Read("ports"), "grpc");
  }

  TempFiles files_;
  const std::string rules_;
  std::unique_ptr<Process> server_;
  int port_ = 0;
};

client::Request Ask(const std::string& key, const std::string& value) {
  return {"shop", {{{key, value}}}};
}

// Asks until a decision comes from `source`, for `patience` at most.
bool ReachesWithin(Client& client, Source source, absl::Duration patience) {
  const absl::Time until = absl::Now() + patience;
  do {
    if (client.ShouldAllow(Ask("page", "/")).source == source) return true;
    absl::SleepFor(absl::Milliseconds(1));
  } while (absl::Now() < until);
  return false;
}

// Threads that ask without pause, and what they saw.
class Load {
 public:
  explicit Load(Client& client) {
    for (int i = 0; i < 4; ++i) {
      threads_.emplace_back([this, &client] {
        while (!stop_.load()) {
          const absl::Time start = absl::Now();
          const Decision decision = client.ShouldAllow(Ask("page", "/"));
          Record(decision, absl::Now() - start);
        }
      });
    }
  }
  ~Load() { Stop(); }

  void Stop() {
    stop_.store(true);
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }
  [[nodiscard]] int64_t from_service() const { return from_service_.load(); }
  [[nodiscard]] int64_t from_backstop() const { return from_backstop_.load(); }
  [[nodiscard]] int64_t from_elsewhere() const {
    return from_elsewhere_.load();
  }
  [[nodiscard]] absl::Duration slowest() const {
    return absl::Nanoseconds(slowest_ns_.load());
  }

 private:
  void Record(const Decision& decision, absl::Duration took) {
    auto& count = decision.source == Source::kService    ? from_service_
                  : decision.source == Source::kBackstop ? from_backstop_
                                                         : from_elsewhere_;
    count.fetch_add(1);
    const int64_t ns = absl::ToInt64Nanoseconds(took);
    int64_t slowest = slowest_ns_.load();
    while (ns > slowest && !slowest_ns_.compare_exchange_weak(slowest, ns)) {
    }
  }

  std::atomic<bool> stop_{false};
  std::atomic<int64_t> from_service_{0};
  std::atomic<int64_t> from_backstop_{0};
  std::atomic<int64_t> from_elsewhere_{0};
  std::atomic<int64_t> slowest_ns_{0};
  std::vector<std::thread> threads_;
};

template <typename Condition>
bool Eventually(const Condition& condition) {
  const absl::Time until = absl::Now() + absl::Seconds(20);
  while (!condition()) {
    if (absl::Now() > until) return false;
    absl::SleepFor(absl::Milliseconds(1));
  }
  return true;
}

TEST(Outage, ClientsTogetherGetExactlyTheLimit) {
  Fleet fleet;
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 4; ++i) clients.push_back(fleet.MakeClient());
  for (auto& client : clients) {
    ASSERT_TRUE(ReachesWithin(*client, Source::kService, absl::Seconds(20)));
  }
  std::atomic<int> allowed{0};
  std::vector<std::thread> threads;
  for (auto& client : clients) {
    threads.emplace_back([&allowed, &client] {
      for (int done = 0; done < 50;) {
        const Decision decision = client->ShouldAllow(Ask("user", "ana"));
        if (decision.source != Source::kService) continue;  // too slow: again
        ++done;
        if (decision.allowed) allowed.fetch_add(1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  // A call that timed out may have taken a token that nobody counted.
  EXPECT_LE(allowed.load(), 100);
  int64_t lost = 0;
  for (auto& client : clients) {
    lost += static_cast<int64_t>(client->stats().timeouts);
  }
  EXPECT_GE(allowed.load() + lost, 100);
}

TEST(Outage, ClientsAnswerFromTheBackstopWhileTheServerIsKilled) {
  Fleet fleet;
  const auto client = fleet.MakeClient();
  ASSERT_TRUE(ReachesWithin(*client, Source::kService, absl::Seconds(20)));
  Load load(*client);
  ASSERT_TRUE(Eventually([&] { return load.from_service() > 100; }));
  fleet.server().Signal(SIGKILL);
  const int64_t before = load.from_backstop();
  ASSERT_TRUE(Eventually([&] { return load.from_backstop() > before + 100; }));
  EXPECT_EQ(fleet.server().ExitStatus(), 128 + SIGKILL);
  load.Stop();
  EXPECT_LT(load.slowest(), kTimeout + kSlack);
  EXPECT_EQ(load.from_elsewhere(), 0);
}

TEST(Outage, ClientsReturnToTheServiceWithinTwoSecondsOfItsRestart) {
  Fleet fleet;
  const auto client = fleet.MakeClient();
  ASSERT_TRUE(ReachesWithin(*client, Source::kService, absl::Seconds(20)));
  Load load(*client);
  fleet.server().Signal(SIGKILL);
  EXPECT_EQ(fleet.server().ExitStatus(), 128 + SIGKILL);
  ASSERT_TRUE(Eventually([&] { return client->stats().breaker_open; }));
  fleet.Restart();
  EXPECT_TRUE(
      ReachesWithin(*client, Source::kService, absl::Seconds(2) + kSlack));
}

TEST(Outage, ClientsAnswerWhileTheServerIsPausedAndReturnToItAfterwards) {
  Fleet fleet;
  const auto client = fleet.MakeClient();
  ASSERT_TRUE(ReachesWithin(*client, Source::kService, absl::Seconds(20)));
  Load load(*client);
  ASSERT_TRUE(Eventually([&] { return load.from_service() > 100; }));
  fleet.server().Signal(SIGSTOP);
  const int64_t before = load.from_backstop();
  ASSERT_TRUE(Eventually([&] { return load.from_backstop() > before + 100; }));
  ASSERT_TRUE(Eventually([&] { return client->stats().breaker_open; }));
  fleet.server().Signal(SIGCONT);
  EXPECT_TRUE(
      ReachesWithin(*client, Source::kService, absl::Seconds(2) + kSlack));
  load.Stop();
  EXPECT_LT(load.slowest(), kTimeout + kSlack);
  EXPECT_EQ(load.from_elsewhere(), 0);
}

TEST(Outage, AClientThatStartsFirstFindsTheServerLater) {
  Fleet fleet;
  fleet.server().Signal(SIGTERM);
  EXPECT_EQ(fleet.server().ExitStatus(), 0);
  const auto client = fleet.MakeClient();
  const Decision decision = client->ShouldAllow(Ask("user", "ana"));
  EXPECT_TRUE(decision.allowed);
  EXPECT_EQ(decision.source, Source::kBackstop);
  fleet.Restart();
  EXPECT_TRUE(
      ReachesWithin(*client, Source::kService, absl::Seconds(2) + kSlack));
}

}  // namespace
}  // namespace tollgate
