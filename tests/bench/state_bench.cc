// The state file of many token buckets: its size, how long saving and restoring
// take, and the worst decision while it is saved: state_bench [BUCKETS [FILE]].
// build/release/bin/state_bench 10000000 /var/tmp/state
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string>
#include <thread>

#include "server/base/clock.h"
#include "server/limiter/limiter.h"
#include "server/limiter/token_bucket.h"
#include "server/state/state_keeper.h"

namespace tollgate {
namespace {

struct Quiet final : state::StateObserver {
  void OnRestored(uint64_t buckets) override { restored = buckets; }
  void OnSaved(int64_t) override { saved = true; }
  void OnSaveFailed() override {}
  uint64_t restored = 0;
  bool saved = false;
};

RuleSet OneRule() {
  Rule rule;
  rule.domain = "shop";
  rule.name = "per-user";
  rule.key = {KeyPart{{KeySource{"user", std::nullopt}}}};
  rule.limits = {*Limit::Create(10, absl::Hours(24))};  // none is full again
  rule.algorithm = &TokenBucket();
  return *RuleSet::Create({rule});
}

double Seconds() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Of this thread alone, so that being preempted does not count.
int64_t CpuNs() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

void Ask(Limiter& limiter, uint64_t user) {
  const std::string name = "user-" + std::to_string(user);
  const Entry entry = {"user", name};
  const Descriptor descriptor(&entry, 1);
  limiter.Decide(Request{"shop", {&descriptor, 1}});
}

// The longest of the decisions that go on until `stop`, in CPU time and in
// wall time.
struct Worst {
  int64_t cpu_ns = 0;
  double wall_s = 0;
};
Worst DecideUntil(Limiter& limiter, uint64_t buckets,
                  const std::atomic<bool>& stop) {
  Worst worst;
  for (uint64_t i = 0; !stop; i = (i + 7919) % buckets) {
    const double wall_s = Seconds();
    const int64_t cpu_ns = CpuNs();
    Ask(limiter, i);
    worst.cpu_ns = std::max(worst.cpu_ns, CpuNs() - cpu_ns);
    worst.wall_s = std::max(worst.wall_s, Seconds() - wall_s);
  }
  return worst;
}

int Run(uint64_t buckets, const std::string& path) {
  const SystemClock clock;
  Quiet quiet;
  {
    auto keeper = state::StateKeeper::Open({path, absl::Hours(1)});
    if (!keeper.ok()) return 1;
    Limiter limiter(clock, LimiterOptions{.hash_key = (*keeper)->hash_key()});
    if (!limiter.SetRules(OneRule()).ok()) return 1;
    (*keeper)->Start(limiter, clock, quiet);
    for (uint64_t i = 0; i < buckets; ++i) Ask(limiter, i);
    std::atomic<bool> stop{false};
    Worst worst;
    std::thread traffic([&] { worst = DecideUntil(limiter, buckets, stop); });
    const double start = Seconds();
    (*keeper)->Finish();
    std::printf("buckets                      %12llu\n",
                static_cast<unsigned long long>(limiter.bucket_count()));
    std::printf("saved in, s                  %12.2f\n", Seconds() - start);
    stop = true;
    traffic.join();
    std::printf("worst decision, CPU, us      %12.1f\n",
                static_cast<double>(worst.cpu_ns) / 1000);
    std::printf("worst decision, wall, us     %12.1f\n", worst.wall_s * 1e6);
  }
  if (!quiet.saved) return 1;
  const auto size = static_cast<double>(std::filesystem::file_size(path));
  std::printf("file, MB                     %12.1f\n", size / 1e6);
  std::printf("bytes per bucket             %12.1f\n",
              size / static_cast<double>(buckets));
  const double start = Seconds();
  auto keeper = state::StateKeeper::Open({path, absl::Hours(1)});
  if (!keeper.ok()) return 1;
  Limiter limiter(clock, LimiterOptions{.hash_key = (*keeper)->hash_key()});
  if (!limiter.SetRules(OneRule()).ok()) return 1;
  (*keeper)->Start(limiter, clock, quiet);
  std::printf("restored in, s               %12.2f\n", Seconds() - start);
  std::printf("buckets restored             %12llu\n",
              static_cast<unsigned long long>(quiet.restored));
  for (const char* const suffix : {"", ".lock"}) {
    std::filesystem::remove(path + suffix);
  }
  return 0;
}

}  // namespace
}  // namespace tollgate

int main(int argc, char** argv) {
  return tollgate::Run(
      argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 10'000'000,
      argc > 2 ? argv[2]
               : std::filesystem::temp_directory_path() /
                     ("tollgate_state_bench." + std::to_string(getpid())));
}
