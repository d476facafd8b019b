#ifndef TOLLGATE_TESTS_BENCH_REDIS_BENCHMARK_H_
#define TOLLGATE_TESTS_BENCH_REDIS_BENCHMARK_H_

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "tests/support/redis_process.h"

// What redis-benchmark makes of a script like ours, for comparison.

namespace tollgate::redis {

// A limiter of one key in one script, as people write them.
inline constexpr char kOneKeyScript[] = R"(
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local full_at = math.max(tonumber(redis.call('GET', KEYS[1]) or '0'), now)
local next = full_at + tonumber(ARGV[1])
if next - now > 1000000000 then return {0, next - now} end
redis.call('SET', KEYS[1], string.format('%.0f', next), 'PX', 10000)
return {1, 0}
)";
inline constexpr int kBenchmarkKeys = 100'000;

// The digest of that script.
inline std::string LoadScript(const RedisProcess& redis) {
  return redis.Cli(absl::StrCat("script load \"", kOneKeyScript, "\""));
}

// Requests a second, as redis-benchmark says.
inline double RedisBenchmark(const RedisProcess& redis,
                             const std::string& digest, int clients,
                             int pipeline, int64_t requests) {
  const std::string line = absl::StrCat(
      "redis-benchmark -q -p ", redis.port(), " -n ", requests, " -c ", clients,
      " -P ", pipeline, " -r ", kBenchmarkKeys, " evalsha ", digest,
      " 1 'tollgate:{__rand_int__}' 1000 2>/dev/null | tr '\\r' '\\n'"
      " | grep 'requests per second' | tail -1");
  std::FILE* const pipe = ::popen(line.c_str(), "r");
  char text[1024] = {};
  if (pipe == nullptr) return 0;
  const bool read = std::fgets(text, sizeof(text), pipe) != nullptr;
  ::pclose(pipe);
  const std::string out = text;
  const size_t end = out.find(" requests per second");
  if (!read || end == std::string::npos) return 0;
  const size_t start = out.rfind(' ', end - 1) + 1;
  double per_second = 0;
  (void)absl::SimpleAtod(out.substr(start, end - start), &per_second);
  return per_second;
}

}  // namespace tollgate::redis

#endif  // TOLLGATE_TESTS_BENCH_REDIS_BENCHMARK_H_
