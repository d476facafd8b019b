// A real server while its Redis stops, dies, pauses, or has no memory left.
#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/client.h"
#include "gtest/gtest.h"
#include "tests/integration/replica.h"
#include "tests/support/redis_process.h"

namespace tollgate {
namespace {

#ifdef TOLLGATE_SANITIZED
constexpr bool kIsSanitized = true;
constexpr absl::Duration kStopped = absl::Seconds(2);
constexpr absl::Duration kBackWithin = absl::Seconds(3);
#else
constexpr bool kIsSanitized = false;
constexpr absl::Duration kStopped = absl::Seconds(5);
constexpr absl::Duration kBackWithin = absl::Seconds(1);
#endif

// Of 4 replicas, each keeps to 10 of the 40 tokens of "share" in an outage.
constexpr char kRules[] =
    "domain: shop\n"
    "rules:\n"
    "  - {name: refuse, key: [login], limit: 1000000/day, on_outage: refuse}\n"
    "  - {name: allow, key: [page], limit: 1000000/day, on_outage: allow}\n"
    "  - {name: share, key: [user], limit: 40/day, on_outage: backstop}\n";
constexpr uint64_t kLimit = 40;
constexpr uint64_t kShare = 10;

const Replica::Entries kRefuse = {{"login", "ana"}};
const Replica::Entries kAllow = {{"page", "/"}};
const Replica::Entries kBackstop = {{"user", "ana"}};

// What keeps silent is known by the timeout, what fails is not.
constexpr char kQuick[] = "--store-timeout=50ms";
constexpr char kPatient[] = "--store-timeout=10s";

std::unique_ptr<Replica> ServerOn(const RedisProcess& redis,
                                  const std::string& timeout) {
  auto replica = std::make_unique<Replica>(
      kRules, std::vector<std::string>{"--store=" + redis.url(), "--replicas=4",
                                       timeout});
  EXPECT_TRUE(WaitUntil([&] { return replica->StoreDecides(kRefuse); }));
  return replica;
}

// How long it takes until the store takes a token, asked every 20 ms.
absl::Duration TimeUntilBack(Replica& replica) {
  const absl::Time start = absl::Now();
  while (Replica::IsOutage(replica.Decide(kRefuse)) &&
         absl::Now() - start < absl::Seconds(30)) {
    absl::SleepFor(absl::Milliseconds(20));
  }
  return absl::Now() - start;
}

// Expects that each rule's outage policy decides, and is in the answer.
void ExpectPolicies(Replica& replica) {
  const client::Decision refused = replica.Decide(kRefuse);
  EXPECT_FALSE(refused.allowed);
  EXPECT_TRUE(Replica::IsOutage(refused));
  const client::Decision allowed = replica.Decide(kAllow);
  EXPECT_TRUE(allowed.allowed);
  EXPECT_TRUE(Replica::IsOutage(allowed));
  uint64_t admitted = 0;
  for (uint64_t i = 0; i < 2 * kShare; ++i) {
    const client::Decision decision = replica.Decide(kBackstop);
    EXPECT_TRUE(Replica::IsOutage(decision));
    admitted += decision.allowed ? 1 : 0;
  }
  EXPECT_GT(admitted, 0U);
  EXPECT_LE(admitted, kShare);
}

// Asks for one token of each rule in turn, from 4 threads, and counts answers.
class Load {
 public:
  explicit Load(Replica& replica) {
    for (std::thread& thread : threads_) {
      thread = std::thread([this, &replica] {
        while (!stop_) {
          for (const auto* entries : {&kRefuse, &kAllow, &kBackstop}) {
            Count(replica, *entries);
          }
        }
      });
    }
  }
  ~Load() { Stop(); }
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

  void Stop() {
    stop_ = true;
    for (std::thread& thread : threads_) {
      if (thread.joinable()) thread.join();
    }
  }
  void SetStopped(bool stopped) { redis_is_stopped_ = stopped; }
  [[nodiscard]] uint64_t answers() const { return answers_; }
  // Those of the outage policies.
  [[nodiscard]] uint64_t outages() const { return outages_; }
  [[nodiscard]] uint64_t shared() const { return shared_; }
  [[nodiscard]] uint64_t by_store() const { return by_store_; }
  [[nodiscard]] uint64_t broken() const { return broken_; }
  [[nodiscard]] absl::Duration longest() const {
    return absl::Nanoseconds(longest_ns_.load());
  }

 private:
  void Count(Replica& replica, const Replica::Entries& entries) {
    const absl::Time start = absl::Now();
    const client::Decision decision = replica.Decide(entries);
    const int64_t took_ns = absl::ToInt64Nanoseconds(absl::Now() - start);
    int64_t longest_ns = longest_ns_;
    while (took_ns > longest_ns &&
           !longest_ns_.compare_exchange_weak(longest_ns, took_ns)) {
    }
    ++answers_;
    const bool is_backstop = &entries == &kBackstop;
    if (!Replica::IsOutage(decision)) {
      by_store_ += is_backstop && decision.allowed ? 1 : 0;
      return;
    }
    ++outages_;
    if (is_backstop) {
      shared_ += redis_is_stopped_ && decision.allowed ? 1 : 0;
    } else if (decision.allowed != (&entries == &kAllow)) {
      ++broken_;
    }
  }

  std::atomic<bool> stop_{false};
  std::atomic<bool> redis_is_stopped_{false};
  std::atomic<uint64_t> answers_{0};
  std::atomic<uint64_t> outages_{0};
  std::atomic<uint64_t> shared_{0};    // of "share" while Redis is stopped
  std::atomic<uint64_t> by_store_{0};  // of "share", by the store
  std::atomic<uint64_t> broken_{0};    // against the policies
  std::atomic<int64_t> longest_ns_{0};
  std::array<std::thread, 4> threads_;
};

TEST(ServerWhoseRedisStops, AnswersInTimeByPolicyAndKeepsItsMemory) {
  const RedisProcess redis;
  const auto replica = ServerOn(redis, kQuick);
  const auto memory_mb = [&] {
    return replica->Metric("process_resident_memory_bytes") / (1 << 20);
  };
  Load load(*replica);
  ASSERT_TRUE(WaitUntil([&] { return load.answers() > 500; }));
  redis.Pause();
  load.SetStopped(true);
  const uint64_t before = load.outages();
  ASSERT_TRUE(WaitUntil([&] { return load.outages() > before + 500; }));
  const double before_mb = memory_mb();
  absl::SleepFor(kStopped);
  const double after_mb = memory_mb();
  EXPECT_GT(load.shared(), 0U);
  EXPECT_LE(load.shared(), kShare);
  load.SetStopped(false);
  redis.Continue();
  EXPECT_LT(TimeUntilBack(*replica), kBackWithin);
  load.Stop();
  // The timeout is 50 ms; the rest is for a machine that does much else.
  EXPECT_LT(load.longest(), absl::Seconds(5));
  EXPECT_EQ(load.broken(), 0U);
  EXPECT_LE(load.by_store(), kLimit);
  // A sanitizer keeps what was freed for a while.
  if (!kIsSanitized) {
    EXPECT_LT(after_mb - before_mb, 16);
  }
  EXPECT_GE(replica->Metric("tollgate_outage_decisions_total{"),
            static_cast<double>(load.outages()));
  EXPECT_GT(replica->Metric("tollgate_store_errors_total{operation=\"take\"}"),
            0);
  EXPECT_GT(
      replica->Metric("tollgate_store_run_errors_total{error=\"timeout\""), 0);
}

TEST(ServerWhoseRedisIsKilled, GoesOnWithTheOneThatTakesItsPlace) {
  RedisProcess redis;
  const auto replica = ServerOn(redis, kPatient);
  redis.Kill();
  ASSERT_TRUE(WaitUntil([&] { return !replica->StoreDecides(kRefuse); }));
  ExpectPolicies(*replica);
  EXPECT_TRUE(replica->is_ready()) << "once it has answered";
  redis.Restart();
  EXPECT_LT(TimeUntilBack(*replica), kBackWithin);
  // It knows our scripts, and nothing of what was spent.
  EXPECT_EQ(replica->Left("share", kBackstop), kLimit);
  EXPECT_TRUE(replica->StoreDecides(kAllow));
  // And gets to know them again.
  EXPECT_EQ(redis.Cli("script flush"), "OK");
  EXPECT_FALSE(Replica::IsOutage(replica->Decide(kBackstop)));
  EXPECT_EQ(replica->Left("share", kBackstop), kLimit - 1);
}

TEST(ServerWhoseRedisPausesItsClients, DecidesByPolicyUntilItGoesOn) {
  const RedisProcess redis;
  const auto replica = ServerOn(redis, kQuick);
  EXPECT_EQ(redis.Cli("client pause 600000 write"), "OK");
  ASSERT_TRUE(WaitUntil([&] { return !replica->StoreDecides(kRefuse); }));
  ExpectPolicies(*replica);
  EXPECT_EQ(redis.Cli("client unpause"), "OK");
  EXPECT_LT(TimeUntilBack(*replica), kBackWithin);
}

TEST(ServerWhoseRedisIsFull, NamesTheReasonAndDecidesByPolicy) {
  const RedisProcess redis;
  const auto replica = ServerOn(redis, kPatient);
  constexpr char kOom[] = "tollgate_store_run_errors_total{error=\"oom\"}";
  EXPECT_EQ(replica->Metric(kOom), 0);
  EXPECT_EQ(redis.Cli("config set maxmemory-policy noeviction"), "OK");
  EXPECT_EQ(redis.Cli("config set maxmemory 1"), "OK");
  ExpectPolicies(*replica);
  EXPECT_GT(replica->Metric(kOom), 0);
  EXPECT_GT(replica->Metric("tollgate_store_errors_total{operation=\"take\"}"),
            0);
  EXPECT_EQ(redis.Cli("config set maxmemory 0"), "OK");
  EXPECT_LT(TimeUntilBack(*replica), kBackWithin);
}

}  // namespace
}  // namespace tollgate
