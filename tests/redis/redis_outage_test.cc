#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/redis/runner_fixture.h"
#include "tests/support/redis_process.h"
#include "tests/support/status_matchers.h"

// Servers that stop without a word, and come back.

namespace tollgate::redis {
namespace {

using ::testing::HasSubstr;

constexpr absl::Duration kShortStall = absl::Milliseconds(100);
#ifdef TOLLGATE_SANITIZED
constexpr bool kIsSanitized = true;
#else
constexpr bool kIsSanitized = false;
#endif

// Of this process, in MiB.
int ResidentMb() {
  std::ifstream statm("/proc/self/statm");
  int64_t size = 0;
  int64_t resident = 0;
  statm >> size >> resident;
  return static_cast<int>(resident * ::getpagesize() >> 20);
}

// Many runs at once with the deadline of a real one, again and again.
class Load {
 public:
  explicit Load(TestRunner& runner) {
    for (int t = 0; t < 4; ++t) {
      threads_.emplace_back([this, &runner] {
        while (!stop_) Batch(runner);
      });
    }
  }
  ~Load() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
  }
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

  // Since the last call.
  absl::Duration TakeLongest() {
    return absl::Nanoseconds(longest_ns_.exchange(0));
  }

 private:
  void Batch(TestRunner& runner) {
    const int64_t start_ns = runner.now_ns();
    std::vector<std::future<absl::StatusOr<Reply>>> replies;
    for (int i = 0; i < 500; ++i) {
      replies.push_back(runner.Start(TestRunner::kEcho, "key",
                                     std::string(100, 'x'),
                                     absl::Milliseconds(10)));
    }
    for (auto& reply : replies) reply.wait();
    const int64_t took_ns = runner.now_ns() - start_ns;
    int64_t longest_ns = longest_ns_;
    while (took_ns > longest_ns &&
           !longest_ns_.compare_exchange_weak(longest_ns, took_ns)) {
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }

  std::atomic<bool> stop_{false};
  std::atomic<int64_t> longest_ns_{0};
  std::vector<std::thread> threads_;
};

TEST(RedisRunnerInAnOutage, StaysQuickAndSmallUnderLoad) {
  const RedisProcess redis;
  TestRunner runner(redis.url(), kShortStall);
  ASSERT_TRUE(runner.Recovers());
  Load load(runner);
  const auto run_for = [](absl::Duration time) {
    std::this_thread::sleep_for(absl::ToChronoMilliseconds(time));
  };
  run_for(absl::Seconds(1));
  load.TakeLongest();
  const int before_mb = ResidentMb();
  redis.Pause();
  run_for(absl::Seconds(5));
  const int after_mb = ResidentMb();
  // The deadline is 10 ms; the rest is for a machine that does much else.
  EXPECT_LT(load.TakeLongest(), absl::Seconds(5));
  // A sanitizer keeps what was freed for a while.
  if (!kIsSanitized) {
    EXPECT_LT(after_mb - before_mb, 32);
  }
  EXPECT_FALSE(runner.runner().is_ready());
  const int64_t start_ns = runner.now_ns();
  redis.Continue();
  EXPECT_TRUE(runner.BecomesReady());
  EXPECT_TRUE(runner.Recovers());
  const absl::Duration back = absl::Nanoseconds(runner.now_ns() - start_ns);
  RecordProperty("back_ms", static_cast<int>(absl::ToInt64Milliseconds(back)));
  RecordProperty("grown_mb", after_mb - before_mb);
  EXPECT_LT(back, absl::Seconds(10));
}

TEST(RedisRunnerInAnOutage, DoesNotWaitForAStoppedServer) {
  const RedisProcess redis;
  TestRunner runner(redis.url(), kShortStall);
  ASSERT_TRUE(runner.Recovers());
  redis.Pause();
  EXPECT_TRUE(runner.BecomesReady(false));
  const int64_t start_ns = runner.now_ns();
  EXPECT_THAT(runner.Echo("x", absl::Seconds(60)),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("")));
  EXPECT_LT(absl::Nanoseconds(runner.now_ns() - start_ns), absl::Seconds(30));
  redis.Continue();
  EXPECT_TRUE(runner.Recovers());
}

TEST(RedisRunnerInAnOutage, OutlastsClientPause) {
  const RedisProcess redis;
  TestRunner runner(redis.url(), kShortStall);
  ASSERT_TRUE(runner.Recovers());
  redis.Cli("client pause 100000 write");
  // It answers, but runs no script: so it does not count as back.
  EXPECT_THAT(runner.Run(TestRunner::kAdd, "k", "1", absl::Milliseconds(10)),
              StatusIs(absl::StatusCode::kDeadlineExceeded, HasSubstr("")));
  EXPECT_TRUE(runner.BecomesReady(false));
  EXPECT_THAT(redis.Cli("ping"), "PONG");
  redis.Cli("client unpause");
  EXPECT_TRUE(runner.BecomesReady());
  EXPECT_TRUE(runner.Recovers());
}

TEST(RedisRunnerInAnOutage, OutlastsAScriptThatDoesNotEnd) {
  const RedisProcess redis({"--busy-reply-threshold", "1"});
  TestRunner runner(redis.url(), kShortStall);
  ASSERT_TRUE(runner.Recovers());
  auto spinning =
      runner.Start(TestRunner::kSpin, "key", "", absl::Milliseconds(50));
  EXPECT_THAT(spinning.get(), testing::Not(IsOk()));
  EXPECT_TRUE(WaitUntil([&] {
    const auto reply = runner.Echo("x", absl::Milliseconds(50));
    return !reply.ok() && absl::StrContains(reply.status().message(), "BUSY");
  }));
  redis.Cli("script kill");
  EXPECT_TRUE(runner.Recovers());
}

}  // namespace
}  // namespace tollgate::redis
