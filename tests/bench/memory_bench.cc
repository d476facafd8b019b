// Process memory for each bucket, and the longest pauses while the table grows,
// is swept and is given other rules: memory_bench [BUCKETS [ALGORITHM]].
//
// A decision's pause is told twice: by the clock on the wall, which on a busy
// machine mostly shows who else ran, and in CPU time of its own thread, which
// shows the work but not the waiting for locks. The longest that the sweep
// holds a stripe bounds that waiting.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <utility>

#include "server/base/clock.h"
#include "server/base/heap.h"
#include "server/limiter/algorithm.h"
#include "server/limiter/limiter.h"

namespace tollgate {
namespace {

uint64_t ResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  uint64_t total_pages = 0;
  uint64_t resident_pages = 0;
  statm >> total_pages >> resident_pages;
  return resident_pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

RuleSet OneRule(const char* algorithm, uint64_t tokens) {
  Rule rule;
  rule.domain = "shop";
  rule.name = "per-user";
  rule.key = {KeyPart{{KeySource{"user", std::nullopt}}}};
  rule.algorithm = FindAlgorithm(algorithm);
  if (rule.algorithm == nullptr) std::exit(2);
  Limit limit = *Limit::Create(tokens, absl::Seconds(1));
  if (!rule.algorithm->Validate(limit).ok()) {
    limit = *limit.WithHold(absl::Seconds(1));  // leaky_bucket wants one
  }
  rule.limits = {limit};
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

// The longest of the things done so far.
struct Worst {
  int64_t wall_ns = 0;
  int64_t cpu_ns = 0;

  template <typename Work>
  void Time(const Work& work) {
    const int64_t wall = WallNs();
    const int64_t cpu = CpuNs();
    work();
    cpu_ns = std::max(cpu_ns, CpuNs() - cpu);
    wall_ns = std::max(wall_ns, WallNs() - wall);
  }
  void Print(const char* what) const {
    std::printf("%-34s%10.1f us CPU%12.1f us wall\n", what,
                static_cast<double>(cpu_ns) / 1000,
                static_cast<double>(wall_ns) / 1000);
  }
};

// Decides for each of `keys` users once.
Worst DecideAll(Limiter& limiter, uint64_t keys) {
  Worst worst;
  for (uint64_t i = 0; i < keys; ++i) {
    const std::string user = "user-" + std::to_string(i);
    const Entry entry = {"user", user};
    const Descriptor descriptor(&entry, 1);
    worst.Time([&] {
      (void)limiter.Decide(Request{"shop", {&descriptor, 1}});
    });
  }
  return worst;
}

// The same while another thread does `work` again and again.
Worst DecideBeside(Limiter& limiter, uint64_t keys,
                   const std::function<void()>& work) {
  std::atomic<bool> done{false};
  std::thread other([&] {
    while (!done) work();
  });
  const Worst worst = DecideAll(limiter, keys);
  done = true;
  other.join();
  return worst;
}

int Run(uint64_t buckets, const char* algorithm) {
  JoinFreedBlocksAtOnce();  // as the service does
  FakeClock clock(1'700'000'000'000'000'000);
  Limiter limiter(clock, {.max_buckets = buckets});
  if (!limiter.SetRules(OneRule(algorithm, 10)).ok()) return 1;
  const uint64_t empty = ResidentBytes();
  const Worst growing = DecideAll(limiter, buckets);
  const uint64_t full = ResidentBytes();
  if (limiter.bucket_count() != buckets) return 1;

  const uint64_t asked = std::max<uint64_t>(buckets / 10, 1);
  uint64_t tokens = 10;
  const Worst reloading = DecideBeside(limiter, asked, [&] {
    tokens = 21 - tokens;
    if (!limiter.SetRules(OneRule(algorithm, tokens)).ok()) std::abort();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  });
  const Worst looking =
      DecideBeside(limiter, asked, [&] { limiter.Sweep(2048); });
  // All are full again, so that the sweep forgets while others come back.
  clock.Advance(2'000'000'000);
  const Worst forgetting =
      DecideBeside(limiter, asked, [&] { limiter.Sweep(2048); });

  clock.Advance(2'000'000'000);
  Worst hold;
  while (limiter.bucket_count() > 0) {
    hold.Time([&] { limiter.Sweep(128); });
  }
  std::printf("%llu buckets, %s\n", static_cast<unsigned long long>(buckets),
              algorithm);
  std::printf("%-34s%10.1f\n", "bytes per bucket",
              static_cast<double>(full - empty) / static_cast<double>(buckets));
  std::printf("%-34s%10.1f MB, swept %.1f MB\n", "resident when full",
              static_cast<double>(full) / 1e6,
              static_cast<double>(ResidentBytes()) / 1e6);
  growing.Print("worst decision while growing");
  reloading.Print("worst decision beside reloads");
  looking.Print("worst decision beside a sweep");
  forgetting.Print("worst decision beside forgetting");
  hold.Print("longest step of a sweep, 128 looked at");
  return 0;
}

}  // namespace
}  // namespace tollgate

int main(int argc, char** argv) {
  return tollgate::Run(
      argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 10'000'000,
      argc > 2 ? argv[2] : "token_bucket");
}
