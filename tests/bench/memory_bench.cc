// Process memory per active bucket, and the worst single decision while the
// table grows, both in CPU time: memory_bench [BUCKETS].
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>

#include "server/base/clock.h"
#include "server/limiter/limiter.h"
#include "server/limiter/token_bucket.h"

namespace tollgate {
namespace {

uint64_t ResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  uint64_t total_pages = 0;
  uint64_t resident_pages = 0;
  statm >> total_pages >> resident_pages;
  return resident_pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

RuleSet OneRule() {
  Rule rule;
  rule.domain = "shop";
  rule.name = "per-user";
  rule.key = {KeyPart{{KeySource{"user", std::nullopt}}}};
  rule.limits = {*Limit::Create(10, absl::Seconds(1))};
  rule.algorithm = &TokenBucket();
  return *RuleSet::Create({rule});
}

int64_t WallNs() {
  return std::chrono::steady_clock::now().time_since_epoch().count();
}

// Of this thread alone, so that being preempted does not count.
int64_t CpuNs() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// The longest of the decisions that make `buckets` buckets.
int64_t Fill(Limiter& limiter, uint64_t buckets) {
  int64_t worst_ns = 0;
  for (uint64_t i = 0; i < buckets; ++i) {
    const std::string user = "user-" + std::to_string(i);
    const Entry entry = {"user", user};
    const Descriptor descriptor(&entry, 1);
    const int64_t before_ns = CpuNs();
    if (!limiter.Decide(Request{"shop", {&descriptor, 1}}).allowed())
      std::abort();
    worst_ns = std::max(worst_ns, CpuNs() - before_ns);
  }
  return worst_ns;
}

int Run(uint64_t buckets) {
  FakeClock clock(1'700'000'000'000'000'000);
  Limiter limiter(clock);
  if (!limiter.SetRules(OneRule()).ok()) return 1;
  const uint64_t empty = ResidentBytes();
  const int64_t start_ns = WallNs();
  const int64_t worst_ns = Fill(limiter, buckets);
  const int64_t fill_ns = WallNs() - start_ns;
  const uint64_t full = ResidentBytes();

  clock.Advance(1'000'000'000);
  int64_t worst_sweep_ns = 0;
  while (limiter.bucket_count() > 0) {
    const int64_t before_ns = CpuNs();
    limiter.Sweep(2048);
    worst_sweep_ns = std::max(worst_sweep_ns, CpuNs() - before_ns);
  }
  const auto count = static_cast<double>(buckets);
  std::printf("buckets                     %12llu\n",
              static_cast<unsigned long long>(buckets));
  std::printf("bytes per bucket            %12.1f\n",
              static_cast<double>(full - empty) / count);
  std::printf("ns per decision, growing    %12.1f\n",
              static_cast<double>(fill_ns) / count);
  std::printf("worst decision, growing, us %12.1f\n",
              static_cast<double>(worst_ns) / 1000);
  std::printf("worst sweep step of 2048, us%12.1f\n",
              static_cast<double>(worst_sweep_ns) / 1000);
  std::printf("MB resident when full       %12.1f\n",
              static_cast<double>(full) / 1e6);
  std::printf("MB resident when swept      %12.1f\n",
              static_cast<double>(ResidentBytes()) / 1e6);
  return 0;
}

}  // namespace
}  // namespace tollgate

int main(int argc, char** argv) {
  return tollgate::Run(argc > 1 ? std::strtoull(argv[1], nullptr, 10)
                                : 10'000'000);
}
