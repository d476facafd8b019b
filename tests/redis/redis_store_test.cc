#include "server/redis/redis_store.h"

#include <atomic>
#include <future>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/limiter/ask.h"
#include "tests/limiter/limits.h"
#include "tests/redis/store_harness.h"
#include "tests/support/redis_process.h"
#include "tests/support/status_matchers.h"

namespace tollgate::redis {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class RedisStoreTest : public testing::Test {
 protected:
  // A request of one descriptor in domain `shop`.
  Decision Ask(RedisStoreUnderTest& store, const std::vector<Entry>& entries,
               uint64_t cost = 1) {
    const std::vector<Descriptor> descriptors = {entries};
    return store.Decide({"shop", descriptors, cost});
  }
  std::string Value(const std::string& key) const {
    return server_.Cli("get '" + key + "'");
  }

  const RedisProcess server_;
  const std::vector<Entry> ana_ = {{"user", "ana"}};
};

TEST_F(RedisStoreTest, NamesBucketsReadably) {
  RedisStoreUnderTest store(server_);
  store.SetRules(
      {MakeRule("per-user", {"user", "path"}, {PerHour(5), PerHour(9)})});
  Ask(store, {{"user", "a|b"}, {"path", "/x y{1}%"}});
  EXPECT_THAT(
      Value("tollgate:{shop|per-user|a%7Cb|/x%20y%7B1%7D%25}:token_bucket"),
      StartsWith("5/3600000000000/5/0 "));
  EXPECT_THAT(
      Value("tollgate:{shop|per-user|a%7Cb|/x%20y%7B1%7D%25}:token_bucket:1"),
      StartsWith("9/3600000000000/9/0 "));
}

TEST_F(RedisStoreTest, PutsADigestInPlaceOfALongValue) {
  RedisStoreUnderTest store(server_);
  store.SetRules({MakeRule("per-user", {"user"}, {PerHour(5)})});
  const std::string user(200, 'x');
  const std::string other = user.substr(1) + "y";
  EXPECT_EQ(Ask(store, {{"user", user}}).statuses[0].remaining, 4u);
  EXPECT_EQ(Ask(store, {{"user", other}}).statuses[0].remaining, 4u);
  EXPECT_EQ(Ask(store, {{"user", user}}).statuses[0].remaining, 3u);
  EXPECT_THAT(server_.Cli("keys '*per-user*'"),
              testing::ContainsRegex(
                  "tollgate:.shop.per-user.#[0-9a-f]{32}.:token_bucket"));
}

TEST_F(RedisStoreTest, ForgetsABucketOnceItIsFull) {
  RedisStoreUnderTest store(server_);
  store.SetRules({MakeRule("per-user", {"user"}, {PerMinute(6)})});
  Ask(store, ana_);
  const int ttl = std::stoi(
      server_.Cli("pttl 'tollgate:{shop|per-user|ana}:token_bucket'"));
  EXPECT_GT(ttl, 0);
  EXPECT_LE(ttl, 11'001) << "10 s to refill, and a second";
}

TEST_F(RedisStoreTest, APeekWritesNothing) {
  RedisStoreUnderTest store(server_);
  store.SetRules({MakeRule("per-user", {"user"}, {PerHour(5)})});
  EXPECT_TRUE(Ask(store, ana_, 0).allowed());
  EXPECT_EQ(server_.Cli("dbsize"), "1") << "the test's clock alone";
}

TEST_F(RedisStoreTest, SpentStaysSpentWhileReplicasHaveOtherRules) {
  RedisStoreUnderTest before(server_);
  RedisStoreUnderTest after(server_);
  before.SetRules({MakeRule("per-user", {"user"}, {PerHour(10)})});
  after.SetRules({MakeRule("per-user", {"user"}, {PerHour(4)})});
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(Ask(before, ana_).allowed());
  EXPECT_EQ(Ask(after, ana_).statuses[0].remaining, 0u) << "3 and 1 of 4";
  EXPECT_EQ(Ask(before, ana_).statuses[0].remaining, 5u) << "5 of 10";
  for (int i = 0; i < 5; ++i) {
    EXPECT_FALSE(Ask(after, ana_).allowed());
    EXPECT_TRUE(Ask(before, ana_).allowed());
  }
  EXPECT_FALSE(Ask(before, ana_).allowed()) << "the refusals forgot nothing";
}

TEST_F(RedisStoreTest, AValueThatIsNoBucketIsLeftAloneAndPolicyDecides) {
  RedisStoreUnderTest store(server_);
  Rule allow = MakeRule("allow", {"user"}, {PerHour(1)});
  allow.on_outage = OutagePolicy::kAllow;
  Rule refuse = MakeRule("refuse", {"name"}, {PerHour(1)});
  refuse.on_outage = OutagePolicy::kRefuse;
  store.SetRules({allow, refuse});
  server_.Cli("set 'tollgate:{shop|allow|ana}:token_bucket' garbage");
  server_.Cli("lpush 'tollgate:{shop|refuse|ana}:token_bucket' 1");
  const Decision allowed = Ask(store, ana_);
  EXPECT_TRUE(allowed.allowed());
  EXPECT_TRUE(allowed.statuses[0].outage);
  const Decision refused = Ask(store, {{"name", "ana"}});
  EXPECT_EQ(refused.outcome, Outcome::kRefused);
  EXPECT_TRUE(refused.statuses[0].outage);
  EXPECT_EQ(refused.retry_after_ns, kSecond);
  EXPECT_EQ(Value("tollgate:{shop|allow|ana}:token_bucket"), "garbage");
  EXPECT_EQ(server_.Cli("llen 'tollgate:{shop|refuse|ana}:token_bucket'"), "1");
}

TEST_F(RedisStoreTest, KeepsItsShareWhileItsServerIsAway) {
  RedisStoreUnderTest store(server_, 1,
                            {.timeout = absl::Seconds(20), .replicas = 3});
  store.SetRules({MakeRule("per-user", {"user"}, {PerHour(12)})});
  store.runner().SetAway({0});
  for (int i = 0; i < 4; ++i) {
    const Decision decision = Ask(store, ana_);
    EXPECT_TRUE(decision.allowed()) << i;
    EXPECT_TRUE(decision.statuses[0].outage);
    EXPECT_EQ(decision.statuses[0].remaining, static_cast<uint64_t>(3 - i));
  }
  EXPECT_FALSE(Ask(store, ana_).allowed()) << "a third of 12";
  store.runner().SetAway({});
  const Decision back = Ask(store, ana_);
  EXPECT_FALSE(back.statuses[0].outage);
  EXPECT_EQ(back.statuses[0].remaining, 11u);
}

TEST_F(RedisStoreTest, GivesBackWhatAnotherNodesOutageRefuses) {
  RedisStoreUnderTest store(server_, 7);
  const Rule here = MakeRule("here", {"user"}, {PerHour(2)});
  Rule away = MakeRule("away", {"user"}, {PerHour(2)});
  away.on_outage = OutagePolicy::kRefuse;
  store.SetRules({here, away});
  const int lost = store.runner().PartitionOf("{shop|away|ana}");
  ASSERT_NE(lost, store.runner().PartitionOf("{shop|here|ana}"));
  store.runner().SetAway({lost});
  for (int i = 0; i < 5; ++i) {
    const Decision decision = Ask(store, ana_);
    EXPECT_EQ(decision.outcome, Outcome::kRefused);
    EXPECT_FALSE(decision.statuses[0].outage);
    EXPECT_TRUE(decision.statuses[1].outage);
  }
  store.runner().SetAway({});
  EXPECT_EQ(Ask(store, ana_).statuses[0].remaining, 1u) << "nothing is lost";
}

TEST_F(RedisStoreTest, AdmitsExactlyTheLimitToThreadsOfSeveralStores) {
  constexpr int kStores = 4;
  constexpr int kThreads = 4;  // of each store
  std::vector<std::unique_ptr<RedisStoreUnderTest>> stores;
  for (int i = 0; i < kStores; ++i) {
    stores.push_back(std::make_unique<RedisStoreUnderTest>(server_));
    stores.back()->SetRules({MakeRule("all", {}, {PerHour(300)}),
                             MakeRule("per-user", {"user"}, {PerHour(400)})});
  }
  std::atomic<int> admitted{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kStores * kThreads; ++t) {
    threads.emplace_back([&, store = &stores[t % kStores]->store()] {
      const std::vector<Descriptor> descriptors = {ana_};
      const Request request{"shop", descriptors};
      for (int i = 0; i < 50; ++i) {
        // Kept by whoever sets it, who is not done when it is read.
        const auto allowed = std::make_shared<std::promise<bool>>();
        auto told = allowed->get_future();
        store->Decide(request, [allowed](const Decision& decision) {
          allowed->set_value(decision.allowed());
        });
        if (told.get()) ++admitted;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(admitted, 300);
  EXPECT_EQ(Ask(*stores[0], ana_, 0).statuses[1].remaining, 100u);
}

TEST_F(RedisStoreTest, RefusesRulesWhoseListsGrowTooLong) {
  Rule rule = MakeRule("log", {"user"}, {PerHour(1000)});
  rule.algorithm = FindAlgorithm("sliding_log");
  EXPECT_THAT(CheckRules({{rule}}), IsOk());
  rule.limits = {PerHour(1001)};
  EXPECT_THAT(CheckRules({{rule}}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("rule log of shop: got 1001 tokens")));
  rule.algorithm = FindAlgorithm("fixed_window");
  EXPECT_THAT(CheckRules({{rule}}), IsOk());
}

}  // namespace
}  // namespace tollgate::redis
