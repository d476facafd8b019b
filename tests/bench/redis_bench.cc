// Runs a second of a one-key script through the runner, next to redis-benchmark
// with the same script on the same server: redis_bench [RUNS].
// build/release/bin/redis_bench 100000

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "server/base/clock.h"
#include "server/redis/redis_options.h"
#include "server/redis/redis_runner.h"
#include "server/redis/run_counters.h"
#include "server/redis/script_runner.h"
#include "tests/bench/loops.h"
#include "tests/bench/redis_benchmark.h"
#include "tests/support/redis_process.h"

namespace tollgate::redis {
namespace {

constexpr int64_t kPatienceNs = 20'000'000'000;

// Runs of the script, each with a key of its own.
StartFn RunsOn(ScriptRunner& runner, const Clock& clock) {
  return [&](int64_t number, std::function<void(bool)> done) {
    ScriptRun run;
    run.keys = {
        absl::StrCat("tollgate:{", (number * 7919) % kBenchmarkKeys, "}")};
    run.args = {"1000"};
    run.deadline_ns = clock.NowNs() + kPatienceNs;
    run.done = [done = std::move(done)](const absl::StatusOr<Reply>& reply) {
      done(reply.ok());
    };
    runner.Run(std::move(run));
  };
}

// CPU time of the server so far, in microseconds.
double ServerCpuUs(const RedisProcess& redis) {
  double us = 0;
  for (const char* const field : {"used_cpu_user", "used_cpu_sys"}) {
    double seconds = 0;
    (void)absl::SimpleAtod(redis.Field("info cpu", field), &seconds);
    us += seconds * 1e6;
  }
  return us;
}

// CPU time of this process so far, in microseconds.
double OwnCpuUs() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e6 +
         static_cast<double>(time.tv_nsec) / 1e3;
}

// What a run costs each side, whatever else the machine does: the slower side,
// with a core of its own, is what limits.
void PrintCpu(const RedisProcess& redis, const std::string& digest,
              const StartFn& ask, const Clock& clock, int64_t runs) {
  const auto each = static_cast<double>(runs);
  double before_us = ServerCpuUs(redis);
  RedisBenchmark(redis, digest, 16, 16, runs);
  const double piped_us = (ServerCpuUs(redis) - before_us) / each;
  before_us = ServerCpuUs(redis);
  const double own_before_us = OwnCpuUs();
  ClosedLoop(ask, 256, runs).Measure(clock);
  const double own_us = (OwnCpuUs() - own_before_us) / each;
  const double server_us = (ServerCpuUs(redis) - before_us) / each;
  std::printf("CPU of a run, us: redis-server for redis-benchmark %10.2f\n",
              piped_us);
  std::printf("                  redis-server for the runner      %10.2f\n",
              server_us);
  std::printf("                  the runner and its caller        %10.2f\n",
              own_us);
  std::printf("so with a core for each, runner / pipelined        %10.2f\n",
              piped_us / std::max(server_us, own_us));
}

int Run(int64_t runs) {
  const RedisProcess redis;
  const SteadyClock clock;
  RunCounters counters;
  RedisOptions options = *ParseRedisUrl(redis.url());
  options.stall = absl::Seconds(10);
  auto made = MakeRedisRunner(options, {kOneKeyScript}, clock, counters);
  if (!made.ok()) return 1;
  const StartFn ask = RunsOn(**made, clock);
  const std::string digest = LoadScript(redis);
  // The best of some rounds in turn, since whatever else the machine does takes
  // from one or the other.
  constexpr std::array<int, 5> kWindows = {1, 16, 64, 256, 1024};
  double plain = 0;
  double piped = 0;
  std::array<double, kWindows.size()> rates{};
  int64_t failures = 0;
  for (int round = 0; round < 4; ++round) {
    plain = std::max(plain, RedisBenchmark(redis, digest, 16, 1, runs / 4));
    piped = std::max(piped, RedisBenchmark(redis, digest, 16, 16, runs));
    for (size_t i = 0; i < kWindows.size(); ++i) {
      ClosedLoop loop(ask, kWindows[i], kWindows[i] == 1 ? runs / 10 : runs);
      rates[i] = std::max(rates[i], loop.Measure(clock));
      failures += loop.failures();
    }
  }
  const double best = *std::max_element(rates.begin(), rates.end());
  std::printf("one-key script, runs/s\n");
  std::printf("%-44s %10.0f\n", "redis-benchmark, 16 clients", plain);
  std::printf("%-44s %10.0f\n", "redis-benchmark, 16 clients, pipelines of 16",
              piped);
  for (size_t i = 0; i < kWindows.size(); ++i) {
    std::printf("the runner, %4d under way %18s %10.0f\n", kWindows[i], "",
                rates[i]);
  }
  std::printf("%-44s %10.2f\n", "best of the runner / pipelined", best / piped);
  std::printf("%-44s %10.2f\n", "best of the runner / unpipelined",
              best / plain);
  PrintCpu(redis, digest, ask, clock, runs);
  const Latency latency = OpenLoop(ask, clock, best / 2, runs / 2);
  failures += latency.failures;
  std::printf("%-44s %10.0f\n%-44s %10.0f\n", "at half of that, p50, us",
              latency.p50_us, "p99, us", latency.p99_us);
  std::printf("%-44s %10lld\n", "failures", static_cast<long long>(failures));
  return failures == 0 && piped > 0 ? 0 : 1;
}

}  // namespace
}  // namespace tollgate::redis

int main(int argc, char** argv) {
  return tollgate::redis::Run(argc > 1 ? std::max(std::atoll(argv[1]), 100LL)
                                       : 100'000);
}
