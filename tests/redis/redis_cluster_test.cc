#include "tests/support/redis_cluster.h"

#include <array>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/redis/key_slot.h"
#include "server/redis/run_error.h"
#include "tests/redis/runner_fixture.h"
#include "tests/support/status_matchers.h"

namespace tollgate::redis {
namespace {

using ::testing::HasSubstr;

std::string KeyOf(int i) { return absl::StrCat("tollgate:{", i, "}"); }

// Adds 1 to keys of one slot, without a pause, until it is told to stop.
class Traffic {
 public:
  Traffic(TestRunner& runner, const std::string& tag) {
    for (int t = 0; t < kThreads; ++t) {
      threads_.emplace_back([this, &runner, tag, t] {
        for (int i = 0; !stop_; ++i) {
          const auto reply =
              runner.Run(TestRunner::kAdd,
                         absl::StrCat("{", tag, "}", (i + t) % kKeys), "1");
          ++(reply.ok() ? added_ : failed_);
          if (!reply.ok()) last_failure_[t] = reply.status().ToString();
        }
      });
    }
  }
  ~Traffic() { Stop(); }
  Traffic(const Traffic&) = delete;
  Traffic& operator=(const Traffic&) = delete;

  void Stop() {
    stop_ = true;
    for (std::thread& thread : threads_) {
      if (thread.joinable()) thread.join();
    }
  }
  [[nodiscard]] int added() const { return added_; }
  [[nodiscard]] int failed() const { return failed_; }
  [[nodiscard]] std::string last_failure() const {
    return absl::StrJoin(last_failure_, "\n");
  }

  static constexpr int kThreads = 4;
  static constexpr int kKeys = 20;

 private:
  std::atomic<bool> stop_{false};
  std::atomic<int> added_{0};
  std::atomic<int> failed_{0};
  std::array<std::string, kThreads> last_failure_;  // each of its thread
  std::vector<std::thread> threads_;
};

int SumOf(const RedisProcess& node, const std::string& tag) {
  int sum = 0;
  for (int i = 0; i < Traffic::kKeys; ++i) {
    int value = 0;
    if (absl::SimpleAtoi(node.Cli(absl::StrCat("get '{", tag, "}", i, "'")),
                         &value)) {
      sum += value;
    }
  }
  return sum;
}

TEST(RedisRunnerOnACluster, FindsEveryNodeFromAnyOne) {
  const RedisCluster cluster;
  RedisProcess gone;
  gone.Kill();
  // A server that is away, and a replica.
  TestRunner runner(
      absl::StrCat(gone.url(), ",127.0.0.1:", cluster.node(5).port()));
  ASSERT_TRUE(runner.Recovers());
  ASSERT_TRUE(runner.BecomesReady());
  for (int i = 0; i < 100; ++i) {
    ASSERT_THAT(runner.Run(TestRunner::kAdd, KeyOf(i), "1"), IsOk());
    EXPECT_EQ(runner.runner().PartitionOf(KeyOf(i)), KeySlot(KeyOf(i)));
  }
  int keys = 0;
  for (size_t i = 0; i < 3; ++i) {
    int size = 0;
    ASSERT_TRUE(absl::SimpleAtoi(cluster.node(i).Cli("dbsize"), &size));
    EXPECT_GT(size, 0);
    keys += size;
  }
  EXPECT_EQ(keys, 100);
  EXPECT_EQ(runner.counters().redirects(), 0U);
}

TEST(RedisRunnerOnACluster, FollowsAFailover) {
  const RedisCluster cluster;
  TestRunner runner(cluster.url());
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(runner.Recovers(KeyOf(i)));
  }
  RedisProcess& primary = cluster.node(1);
  primary.Kill();
  // Every slot is served again, without the node that is gone.
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(WaitUntil([&] {
      return runner.Run(TestRunner::kAdd, KeyOf(i), "1").ok();
    })) << KeyOf(i);
  }
  EXPECT_TRUE(runner.BecomesReady());
  // It comes back, as a replica, and nothing goes to it.
  primary.Restart();
  ASSERT_TRUE(WaitUntil(
      [&] { return primary.Field("info replication", "role") == "slave"; }));
  for (int i = 0; i < 100; ++i) {
    EXPECT_THAT(runner.Run(TestRunner::kAdd, KeyOf(i), "1"), IsOk());
  }
}

TEST(RedisRunnerOnACluster, LosesNothingWhileASlotMovesUnderTraffic) {
  const RedisCluster cluster;
  TestRunner runner(cluster.url());
  ASSERT_TRUE(runner.Recovers());
  const std::string tag = "moving";
  const int slot = KeySlot(tag);
  RedisProcess& from = cluster.PrimaryOf(slot);
  RedisProcess& to =
      &from == &cluster.node(0) ? cluster.node(1) : cluster.node(0);
  Traffic traffic(runner, tag);
  ASSERT_TRUE(WaitUntil([&] { return traffic.added() > 100; }));
  const std::string setslot = absl::StrCat("cluster setslot ", slot);
  const std::string from_id = from.Cli("cluster myid");
  const std::string to_id = to.Cli("cluster myid");
  EXPECT_EQ(to.Cli(absl::StrCat(setslot, " importing ", from_id)), "OK");
  EXPECT_EQ(from.Cli(absl::StrCat(setslot, " migrating ", to_id)), "OK");
  // Key by key, with traffic between.
  for (int i = 0; i < Traffic::kKeys; ++i) {
    const int before = traffic.added();
    EXPECT_THAT(from.Cli(absl::StrCat("migrate 127.0.0.1 ", to.port(), " '{",
                                      tag, "}", i, "' 0 5000")),
                testing::AnyOf("OK", "NOKEY"));
    ASSERT_TRUE(WaitUntil([&] { return traffic.added() > before + 20; }));
  }
  EXPECT_GT(runner.counters().redirects(), 0U);
  for (RedisProcess* const node : {&to, &from}) {
    EXPECT_EQ(node->Cli(absl::StrCat(setslot, " node ", to_id)), "OK");
  }
  const int before = traffic.added();
  ASSERT_TRUE(WaitUntil([&] { return traffic.added() > before + 500; }));
  traffic.Stop();
  EXPECT_EQ(traffic.failed(), 0) << traffic.last_failure();
  EXPECT_EQ(SumOf(to, tag), traffic.added());
  // What follows goes straight to its new place.
  const uint64_t redirects = runner.counters().redirects();
  for (int i = 0; i < 100; ++i) {
    EXPECT_THAT(runner.Run(TestRunner::kAdd, absl::StrCat("{", tag, "}"), "1"),
                IsOk());
  }
  EXPECT_EQ(runner.counters().redirects(), redirects);
}

TEST(RedisRunnerOnACluster, NamesTheErrorsOfACluster) {
  const RedisCluster cluster;
  TestRunner runner(cluster.url());
  ASSERT_TRUE(runner.Recovers());
  // A slot that nobody serves.
  const std::string key = "lonely";
  RedisProcess& owner = cluster.PrimaryOf(KeySlot(key));
  for (size_t i = 0; i < cluster.size(); ++i) {
    cluster.node(i).Cli("config set cluster-require-full-coverage no");
    cluster.node(i).Cli(absl::StrCat("cluster delslots ", KeySlot(key)));
  }
  const auto reply = runner.Run(TestRunner::kAdd, key, "1");
  EXPECT_FALSE(reply.ok());
  EXPECT_THAT(std::string(reply.status().message()),
              testing::AnyOf(HasSubstr("CLUSTERDOWN"),
                             HasSubstr("no node serves the slot")));
  // It is served again.
  EXPECT_EQ(owner.Cli(absl::StrCat("cluster addslots ", KeySlot(key))), "OK");
  EXPECT_TRUE(runner.Recovers(key));
  // Keys of two slots.
  EXPECT_THAT(
      runner.Start(TestRunner::kAdd, std::vector<std::string>{"a", "b"}, "1")
          .get(),
      StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("CROSSSLOT")));
  EXPECT_EQ(runner.counters().errors(RunError::kCrossSlot), 1U);
}

TEST(RedisRunnerOnACluster, TriesAgainWhileKeysOfOneRunMoveApart) {
  const RedisCluster cluster;
  TestRunner runner(cluster.url());
  ASSERT_TRUE(runner.Recovers());
  ASSERT_THAT(runner.Run(TestRunner::kAdd, "{moving}here", "1"), IsOk());
  const int slot = KeySlot("moving");
  RedisProcess& from = cluster.PrimaryOf(slot);
  RedisProcess& to =
      &from == &cluster.node(0) ? cluster.node(1) : cluster.node(0);
  const std::string setslot = absl::StrCat("cluster setslot ", slot);
  const std::string to_id = to.Cli("cluster myid");
  to.Cli(absl::StrCat(setslot, " importing ", from.Cli("cluster myid")));
  from.Cli(absl::StrCat(setslot, " migrating ", to_id));
  const std::vector<std::string> keys = {"{moving}here", "{moving}there"};
  EXPECT_THAT(
      runner.Start(TestRunner::kAdd, keys, "1").get(),
      StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("TRYAGAIN")));
  EXPECT_EQ(runner.counters().errors(RunError::kTryAgain), 1U);
  EXPECT_EQ(from.Cli(absl::StrCat("migrate 127.0.0.1 ", to.port(),
                                  " '{moving}here' 0 5000")),
            "OK");
  for (RedisProcess* const node : {&to, &from}) {
    EXPECT_EQ(node->Cli(absl::StrCat(setslot, " node ", to_id)), "OK");
  }
  EXPECT_THAT(runner.Start(TestRunner::kAdd, keys, "1").get(), IsOk());
  EXPECT_EQ(to.Cli("get '{moving}here'"), "2");
}

}  // namespace
}  // namespace tollgate::redis
