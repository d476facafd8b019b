#ifndef TOLLGATE_TESTS_REDIS_RUNNER_FIXTURE_H_
#define TOLLGATE_TESTS_REDIS_RUNNER_FIXTURE_H_

#include <cstdint>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "server/base/clock.h"
#include "server/redis/redis_options.h"
#include "server/redis/redis_runner.h"
#include "server/redis/run_counters.h"
#include "server/redis/script_runner.h"
#include "tests/support/redis_process.h"

namespace tollgate::redis {

// A runner of three scripts, and a way to wait for what they answer.
class TestRunner {
 public:
  enum Script : size_t { kEcho, kAdd, kSpin };

  // A stall that no pause of a busy machine reaches, for tests of other things.
  static constexpr absl::Duration kPatient = absl::Seconds(20);

  explicit TestRunner(const std::string& url, absl::Duration stall = kPatient)
      : TestRunner(OptionsOf(url, stall)) {}
  explicit TestRunner(const RedisOptions& options)
      : runner_(*MakeRedisRunner(
            options,
            {"return ARGV[1]", "return redis.call('INCRBY', KEYS[1], ARGV[1])",
             "while redis.call('EXISTS', KEYS[1]) == 0 do end return 1"},
            clock_, counters_)) {}

  [[nodiscard]] ScriptRunner& runner() { return *runner_; }
  [[nodiscard]] const RunCounters& counters() const { return counters_; }
  [[nodiscard]] int64_t now_ns() const { return clock_.NowNs(); }

  std::future<absl::StatusOr<Reply>> Start(
      size_t script, const std::string& key, const std::string& arg,
      absl::Duration patience = absl::Seconds(20)) {
    return Start(script, std::vector<std::string>{key}, arg, patience);
  }
  std::future<absl::StatusOr<Reply>> Start(
      size_t script, std::vector<std::string> keys, const std::string& arg,
      absl::Duration patience = absl::Seconds(20)) {
    auto promise = std::make_shared<std::promise<absl::StatusOr<Reply>>>();
    auto future = promise->get_future();
    ScriptRun run;
    run.script = script;
    run.keys = std::move(keys);
    run.args = {arg};
    run.deadline_ns = clock_.NowNs() + absl::ToInt64Nanoseconds(patience);
    run.done = [promise](absl::StatusOr<Reply> reply) {
      promise->set_value(std::move(reply));
    };
    runner_->Run(std::move(run));
    return future;
  }
  absl::StatusOr<Reply> Run(size_t script, const std::string& key,
                            const std::string& arg,
                            absl::Duration patience = absl::Seconds(20)) {
    return Start(script, key, arg, patience).get();
  }
  absl::StatusOr<Reply> Echo(const std::string& text,
                             absl::Duration patience = absl::Seconds(20)) {
    return Run(kEcho, "key", text, patience);
  }
  // Whether a run is answered within 30 s, after as many failures as it takes.
  bool Recovers(const std::string& key = "key") {
    return WaitUntil([&] { return Run(kEcho, key, "x").ok(); });
  }
  bool BecomesReady(bool ready = true) {
    return WaitUntil([&] { return runner_->is_ready() == ready; });
  }

  static RedisOptions OptionsOf(const std::string& url,
                                absl::Duration stall = kPatient) {
    RedisOptions options = *ParseRedisUrl(url);
    options.stall = stall;
    return options;
  }

 private:
  const SteadyClock clock_;
  RunCounters counters_;
  const std::unique_ptr<ScriptRunner> runner_;
};

}  // namespace tollgate::redis

#endif  // TOLLGATE_TESTS_REDIS_RUNNER_FIXTURE_H_
