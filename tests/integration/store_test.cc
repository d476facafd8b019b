// Real servers that share a real Redis.
#include <signal.h>
#include <stdlib.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/client.h"
#include "gtest/gtest.h"
#include "tests/integration/replica.h"
#include "tests/support/redis_cluster.h"
#include "tests/support/redis_process.h"
#include "tests/support/temp_files.h"

namespace tollgate {
namespace {

constexpr char kRules[] =
    "domain: shop\n"
    "rules:\n"
    "  - {name: all, key: [], limit: 1000/day}\n"
    "  - {name: wide, match: {page: /}, key: [user], limit: 400/day}\n"
    "  - {name: narrow, match: {page: /}, key: [page], limit: 150/day}\n"
    "  - {name: strict, key: [login], limit: 1000000/day, on_outage: refuse}\n";

// One that waits for the store as long as it takes.
std::unique_ptr<Replica> PatientReplica(const std::string& url) {
  return std::make_unique<Replica>(
      kRules,
      std::vector<std::string>{"--store=" + url, "--store-timeout=10s"});
}

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
  for (int i = 0; i < 4; ++i) replicas.push_back(PatientReplica(url));
  return replicas;
}

TEST(ReplicasOnOneRedis, TogetherAdmitExactlyTheLimit) {
  const RedisProcess redis;
  const auto replicas = FourReplicas(redis.url());
  EXPECT_EQ(Admitted(replicas, 2000, {{"user", "ana"}}), 1000);
}

TEST(ReplicasOnOneRedis, DecideByPolicyWhileItIsPausedAndComeBack) {
  const RedisProcess redis;
  Replica replica(kRules, {"--store=" + redis.url(), "--store-timeout=20ms"});
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

constexpr char kAsDefaultUser[] = "--no-auth-warning -a sesame ";

// A Redis whose default user has a password, and with a user for Tollgate as in
// deploy/store.md.
std::unique_ptr<RedisProcess> RedisWithPasswords() {
  auto redis = std::make_unique<RedisProcess>(
      std::vector<std::string>{"--requirepass", "sesame"});
  EXPECT_EQ(redis->Cli(absl::StrCat(
                kAsDefaultUser,
                "acl setuser limiter on '>s3cret-w0rd' '~tollgate:*' +evalsha "
                "+eval '+script|load' +get +set +del +time +role "
                "'+cluster|slots' +asking")),
            "OK");
  return redis;
}

std::string StoreOf(const RedisProcess& redis, const std::string& user) {
  return "--store=redis://" + user +
         "127.0.0.1:" + std::to_string(redis.port());
}

TEST(ReplicasOnARedisWithPasswords, LogInByAFileOrTheEnvironment) {
  const auto redis = RedisWithPasswords();
  const TempFiles files;
  Replica by_file(kRules, {StoreOf(*redis, "limiter@"),
                           "--store-password-file=" +
                               files.Write("password", "s3cret-w0rd\n")});
  EXPECT_TRUE(WaitUntil([&] { return by_file.StoreDecides({{"user", "a"}}); }));
  EXPECT_TRUE(by_file.is_ready());
  ::setenv("TOLLGATE_STORE_PASSWORD", "sesame", 1);
  Replica by_environment(kRules, {StoreOf(*redis, "")});
  ::unsetenv("TOLLGATE_STORE_PASSWORD");
  EXPECT_TRUE(WaitUntil([&] {
    return by_environment.StoreDecides({{"user", "a"}});
  }));
  // They share the limits, and tell nobody the password.
  EXPECT_TRUE(by_file.Ask({{"user", "a"}}));
  EXPECT_EQ(by_environment.Left("all", {{"user", "a"}}), 999U);
  for (const char* path : {"/", "/status.json", "/readyz", "/metrics"}) {
    EXPECT_FALSE(absl::StrContains(by_file.Get(path), "s3cret-w0rd")) << path;
  }
  by_file.process().Signal(SIGTERM);
  EXPECT_EQ(by_file.process().ExitStatus(), 0);
  EXPECT_FALSE(absl::StrContains(by_file.process().log(), "s3cret-w0rd"));
}

TEST(ReplicasOnARedisWithPasswords, AreNotReadyUntilTheirsIsRight) {
  const auto redis = RedisWithPasswords();
  const TempFiles files;
  Replica replica(kRules, {StoreOf(*redis, "limiter@"), "--store-timeout=20ms",
                           "--store-password-file=" +
                               files.Write("password", "n0t-this-0ne")});
  EXPECT_TRUE(replica.HasLogged("AUTH: WRONGPASS"));
  EXPECT_FALSE(replica.is_ready());
  EXPECT_FALSE(replica.StoreDecides({{"login", "a"}}));
  // It goes on trying: the password becomes right.
  redis->Cli(
      absl::StrCat(kAsDefaultUser, "acl setuser limiter '>n0t-this-0ne'"));
  EXPECT_TRUE(WaitUntil([&] { return replica.is_ready(); }));
  EXPECT_TRUE(WaitUntil([&] {
    return replica.StoreDecides({{"login", "a"}});
  }));
  replica.process().Signal(SIGTERM);
  EXPECT_EQ(replica.process().ExitStatus(), 0);
  EXPECT_FALSE(absl::StrContains(replica.process().log(), "n0t-this-0ne"));
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
