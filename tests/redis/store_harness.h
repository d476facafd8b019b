#ifndef TOLLGATE_TESTS_REDIS_STORE_HARNESS_H_
#define TOLLGATE_TESTS_REDIS_STORE_HARNESS_H_

#include <condition_variable>
#include <cstdint>
#include <future>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "server/base/clock.h"
#include "server/limiter/bucket_store.h"
#include "server/limiter/limiter.h"
#include "server/redis/bucket_script.h"
#include "server/redis/key_slot.h"
#include "server/redis/redis_options.h"
#include "server/redis/redis_runner.h"
#include "server/redis/redis_store.h"
#include "tests/support/redis_process.h"

namespace tollgate::redis {

// Runs on one server as if it were the nodes of a cluster, of which some may be
// away, and knows when nothing is under way.
class ShapedRunner final : public ScriptRunner {
 public:
  ShapedRunner(std::unique_ptr<ScriptRunner> runner, int partitions)
      : runner_(std::move(runner)), partitions_(partitions) {}

  [[nodiscard]] int PartitionOf(absl::string_view key) const override {
    return KeySlot(key) % partitions_;
  }
  void Run(ScriptRun run) override {
    if (!Admit(run)) {
      run.done(absl::UnavailableError("redis: not connected: away"));
      return;
    }
    run.done = [this, done = std::move(run.done)](
                   absl::StatusOr<Reply> reply) mutable {
      done(std::move(reply));
      const std::lock_guard<std::mutex> inner(mutex_);
      if (--under_way_ == 0) idle_.notify_all();
    };
    runner_->Run(std::move(run));
  }
  [[nodiscard]] bool is_ready() const override { return runner_->is_ready(); }

  void SetAway(std::set<int> partitions) {
    const std::lock_guard<std::mutex> lock(mutex_);
    away_ = std::move(partitions);
  }
  void WaitUntilIdle() {
    std::unique_lock<std::mutex> lock(mutex_);
    idle_.wait(lock, [this] { return under_way_ == 0; });
  }
  [[nodiscard]] int runs() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return runs_;
  }

 private:
  bool Admit(const ScriptRun& run) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!run.keys.empty() && away_.count(PartitionOf(run.keys[0])) > 0) {
      return false;
    }
    ++under_way_;
    ++runs_;
    return true;
  }

  std::mutex mutex_;
  std::condition_variable idle_;
  std::set<int> away_;
  int under_way_ = 0;
  int runs_ = 0;
  const std::unique_ptr<ScriptRunner> runner_;  // goes first
  const int partitions_;
};

// A store on a Redis whose clock the test sets.
class RedisStoreUnderTest {
 public:
  explicit RedisStoreUnderTest(
      const RedisProcess& server, int partitions = 1,
      RedisStoreOptions options = {.timeout = absl::Seconds(20)})
      : limiter_(clock_, {.hash_key = HashKey{}}) {
    auto runner = MakeRedisRunner(
        OptionsOf(server),
        {TakeScript(kTestClock), ResetScript(),
         "return redis.call('SET', 'test-clock', ARGV[1] .. ' ' .. ARGV[2])"},
        steady_, counters_);
    EXPECT_TRUE(runner.ok()) << runner.status();
    auto shaped =
        std::make_unique<ShapedRunner>(*std::move(runner), partitions);
    runner_ = shaped.get();
    EXPECT_TRUE(WaitUntil([this] { return runner_->is_ready(); }));
    store_ = MakeRedisStore(options, limiter_, std::move(shaped), steady_);
    SetTime(clock_.NowNs());
  }

  [[nodiscard]] Limiter& limiter() { return limiter_; }
  [[nodiscard]] BucketStore& store() { return *store_; }
  [[nodiscard]] ShapedRunner& runner() { return *runner_; }

  void SetRules(std::vector<Rule> rules) {
    auto set = RuleSet::Create(std::move(rules));
    ASSERT_TRUE(set.ok()) << set.status();
    ASSERT_TRUE(limiter_.SetRules(*std::move(set)).ok());
  }
  void SetTime(int64_t now_ns) {
    clock_.Set(now_ns);
    std::promise<bool> done;
    ScriptRun run;
    run.script = 2;
    run.args = {absl::StrCat(now_ns / kSecondNs),
                absl::StrCat(now_ns % kSecondNs)};
    run.deadline_ns = steady_.NowNs() + 20 * kSecondNs;
    run.done = [&done](const absl::StatusOr<Reply>& reply) {
      EXPECT_TRUE(reply.ok()) << reply.status();
      done.set_value(true);
    };
    runner_->Run(std::move(run));
    done.get_future().wait();
    runner_->WaitUntilIdle();
  }
  void Advance(absl::Duration d) {
    SetTime(clock_.NowNs() + absl::ToInt64Nanoseconds(d));
  }

  // What a request gets, once all that it takes back is back.
  Decision Decide(const Request& request) {
    return Wait([&](auto done) { store_->Decide(request, std::move(done)); });
  }
  Decision Refund(const Request& request, int64_t taken_at_ns) {
    return Wait([&](auto done) {
      store_->Refund(request, taken_at_ns, {}, std::move(done));
    });
  }
  bool Release(const HeldSlots& slots) {
    return Wait<bool>(
        [&](auto done) { store_->Release(slots, std::move(done)); });
  }
  size_t Reset(const Request& request, absl::string_view rule = "") {
    return Wait<size_t>(
        [&](auto done) { store_->Reset(request, rule, std::move(done)); });
  }
  // Copies of what Decide's decision said of slots.
  [[nodiscard]] const std::vector<std::string>& places() const {
    return places_;
  }

 private:
  static constexpr int64_t kSecondNs = 1'000'000'000;
  static constexpr int64_t kStartNs = 1'764'547'200'000'000'001;
  static constexpr absl::string_view kTestClock =
      "local s, n = string.match(redis.call('GET', 'test-clock'), "
      "'(%d+) (%d+)')\n"
      "local now_s, now_ns = tonumber(s), tonumber(n)\n";

  static RedisOptions OptionsOf(const RedisProcess& server) {
    RedisOptions options = *ParseRedisUrl(server.url());
    options.stall = absl::Seconds(20);
    return options;
  }

  template <typename T = Decision, typename Start>
  T Wait(Start start) {
    std::promise<T> promise;
    auto future = promise.get_future();
    start([&](const auto& told) {
      if constexpr (std::is_same_v<T, Decision>) KeepPlaces(told);
      promise.set_value(told);
    });
    T told = future.get();
    runner_->WaitUntilIdle();
    if constexpr (std::is_same_v<T, Decision>) {
      for (size_t i = 0; i < told.slots.size(); ++i) {
        told.slots[i].place = places_[i];
      }
    }
    return told;
  }
  void KeepPlaces(const Decision& decision) {
    places_.clear();
    for (const HeldSlots& slots : decision.slots) {
      places_.emplace_back(slots.place);
    }
  }

  FakeClock clock_{kStartNs};
  const SteadyClock steady_;
  RunCounters counters_;
  Limiter limiter_;
  ShapedRunner* runner_ = nullptr;
  std::vector<std::string> places_;
  std::unique_ptr<BucketStore> store_;
};

}  // namespace tollgate::redis

#endif  // TOLLGATE_TESTS_REDIS_STORE_HARNESS_H_
