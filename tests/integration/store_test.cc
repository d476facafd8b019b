// Real servers that share a real Redis.
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/client.h"
#include "gtest/gtest.h"
#include "tests/support/process.h"
#include "tests/support/redis_cluster.h"
#include "tests/support/redis_process.h"
#include "tests/support/temp_files.h"

namespace tollgate {
namespace {

using client::Client;
using client::Source;

constexpr char kRules[] =
    "domain: shop\n"
    "rules:\n"
    "  - {name: all, key: [], limit: 1000/day}\n"
    "  - {name: wide, match: {page: /}, key: [user], limit: 400/day}\n"
    "  - {name: narrow, match: {page: /}, key: [page], limit: 150/day}\n"
    "  - {name: strict, key: [login], limit: 1000000/day, on_outage: refuse}\n";

// One server on the store at `url`, and a client of it.
class Replica {
 public:
  explicit Replica(const std::string& url, bool waits = true)
      : server_(TOLLGATE_SERVER_BINARY,
                {"--rules=" + files_.Write("rules.yaml", kRules),
                 "--listen=127.0.0.1:0", "--http-listen=off", "--store=" + url,
                 waits ? "--store-timeout=10s" : "--store-timeout=20ms",
                 "--port-file=" + files_.Path("ports")}) {
    EXPECT_TRUE(server_.WaitForLine("ready")) << server_.log();
    client::ClientOptions options;
    options.target =
        "127.0.0.1:" + std::to_string(PortFrom(files_.Read("ports"), "grpc"));
    options.timeout = absl::Seconds(20);
    auto client = Client::Create(options);
    EXPECT_TRUE(client.ok()) << client.status();
    client_ = *std::move(client);
  }

  // Whether the service allows a request with that entry.
  bool Ask(std::vector<client::Entry> entries) {
    const client::Decision decision =
        client_->ShouldAllow({"shop", {std::move(entries)}});
    EXPECT_TRUE(decision.source == Source::kService ||
                decision.source == Source::kRefusalCache)
        << decision.error;
    return decision.allowed;
  }
  // Whole tokens that are left under `rule`.
  uint64_t Left(const std::string& rule, std::vector<client::Entry> entries) {
    const client::Decision decision =
        client_->ShouldAllow({"shop", {std::move(entries)}, /*cost=*/0});
    for (const auto& status : decision.statuses) {
      if (status.rule == rule) return status.remaining;
    }
    ADD_FAILURE() << "no rule " << rule;
    return 0;
  }

 private:
  TempFiles files_;
  Process server_;
  std::unique_ptr<Client> client_;
};

// How many of so many requests from 16 threads through 4 replicas are allowed.
int Admitted(const std::vector<std::unique_ptr<Replica>>& replicas,
             int requests, const std::vector<client::Entry>& entries) {
  std::atomic<int> left{requests};
  std::atomic<int> admitted{0};
  std::vector<std::thread> threads;
  for (size_t i = 0; i < 16; ++i) {
    threads.emplace_back([&, replica = replicas[i % replicas.size()].get()] {
      while (--left >= 0) {
        if (replica->Ask(entries)) ++admitted;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return admitted;
}

std::vector<std::unique_ptr<Replica>> FourReplicas(const std::string& url) {
  std::vector<std::unique_ptr<Replica>> replicas;
  for (int i = 0; i < 4; ++i)
    replicas.push_back(std::make_unique<Replica>(url));
  return replicas;
}

TEST(ReplicasOnOneRedis, TogetherAdmitExactlyTheLimit) {
  const RedisProcess redis;
  const auto replicas = FourReplicas(redis.url());
  EXPECT_EQ(Admitted(replicas, 2000, {{"user", "ana"}}), 1000);
}

TEST(ReplicasOnOneRedis, DecideByPolicyWhileItIsPausedAndComeBack) {
  const RedisProcess redis;
  Replica replica(redis.url(), /*waits=*/false);
  const auto allowed = [&] { return replica.Ask({{"login", "ana"}}); };
  ASSERT_TRUE(WaitUntil(allowed));
  redis.Pause();
  for (int i = 0; i < 20; ++i) {
    const absl::Time start = absl::Now();
    EXPECT_FALSE(allowed()) << "its rule says refuse";
    EXPECT_LT(absl::Now() - start, absl::Seconds(5));
  }
  redis.Continue();
  EXPECT_TRUE(WaitUntil(allowed));
}

TEST(ReplicasOnACluster, TakeAllOrNothingAndLoseNoToken) {
  const RedisCluster cluster;
  const auto replicas = FourReplicas(cluster.url());
  const std::vector<client::Entry> entries = {{"user", "ana"}, {"page", "/"}};
  ASSERT_TRUE(WaitUntil([&] { return replicas[0]->Ask({{"login", "a"}}); }));
  const uint64_t before = replicas[0]->Left("all", entries);
  const int admitted = Admitted(replicas, 400, entries);
  EXPECT_EQ(admitted, 150);
  // Refunds do not hold an answer up.
  EXPECT_TRUE(WaitUntil([&] {
    return replicas[1]->Left("wide", entries) == 400 - 150 &&
           replicas[2]->Left("narrow", entries) == 0 &&
           replicas[3]->Left("all", entries) == before - 150;
  })) << replicas[1]->Left("wide", entries);
}

}  // namespace
}  // namespace tollgate
