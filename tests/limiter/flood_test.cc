// A scanner that uses a new key for every request. TOLLGATE_FLOOD_KEYS says how
// many; the cap is a twentieth of it.
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "gtest/gtest.h"
#include "server/base/clock.h"
#include "tests/limiter/ask.h"
#include "tests/limiter/limits.h"
#include "tests/limiter/naive_model.h"

namespace tollgate {
namespace {

constexpr uint64_t kBurst = 20;
constexpr uint64_t kOldKeys = 8;

uint64_t FloodKeys() {
  const char* const text = std::getenv("TOLLGATE_FLOOD_KEYS");
  uint64_t keys = 0;
  return text != nullptr && absl::SimpleAtoi(text, &keys) ? keys : 200'000;
}

int64_t ResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  int64_t total_pages = 0;
  int64_t resident_pages = 0;
  statm >> total_pages >> resident_pages;
  return resident_pages * sysconf(_SC_PAGESIZE);
}

class Flood {
 public:
  Flood(uint64_t keys, uint64_t cap)
      : keys_(keys),
        cap_(cap),
        limiter_(clock_, LimiterOptions{.max_buckets = cap}),
        old_(kOldKeys, NaiveBucket(PerHour(kBurst))) {
    SetRules(limiter_, {MakeRule("per-user", {"user"}, {PerHour(kBurst)})});
  }

  void Run() {
    AskOldKeys();
    // Over half an hour, in which a bucket refills half. The old keys ask
    // faster than they refill, so they are never forgotten.
    const uint64_t every = keys_ / 30;
    for (uint64_t i = 0; i < keys_; ++i) {
      Attack(i);
      if (i % every == every - 1) {
        clock_.Advance(60 * kSecond);
        AskOldKeys();
      }
      if (i == cap_ + cap_ / 10) resident_at_cap_ = ResidentBytes();
    }
    growth_ = ResidentBytes() - resident_at_cap_;
  }

  [[nodiscard]] uint64_t admitted() const { return admitted_; }
  [[nodiscard]] uint64_t most_buckets() const { return most_buckets_; }
  [[nodiscard]] uint64_t shared() const { return shared_; }
  [[nodiscard]] int64_t growth() const { return growth_; }
  [[nodiscard]] int wrong_for_old_keys() const { return wrong_; }
  Limiter& limiter() { return limiter_; }
  FakeClock& clock() { return clock_; }

 private:
  Decision Ask(absl::string_view user, uint64_t cost) {
    const Entry entry{"user", user};
    const Descriptor descriptor(&entry, 1);
    return limiter_.Decide(Request{"shop", {&descriptor, 1}, cost});
  }

  // A new key takes all that a new key can get.
  void Attack(uint64_t number) {
    // Short enough to lie within the string, so nothing is allocated.
    const std::string user = std::to_string(number);
    const Decision decision = Ask(user, kBurst);
    if (decision.allowed()) admitted_ += kBurst;
    if (decision.statuses[0].overflow) ++shared_;
    most_buckets_ = std::max<uint64_t>(most_buckets_, limiter_.bucket_count());
  }

  void AskOldKeys() {
    for (uint64_t i = 0; i < kOldKeys; ++i) {
      NaiveBucket& model = old_[i];
      const int64_t now_ns = clock_.NowNs();
      const bool allowed = model.Allows(1, now_ns);
      const int64_t retry_ns = model.RetryAfter(1, now_ns);
      if (allowed) model.Take(1, now_ns);
      const std::string user = "old-" + std::to_string(i);
      const RuleStatus status = Ask(user, 1).statuses.at(0);
      if (status.overflow || (status.outcome == Outcome::kAllowed) != allowed ||
          status.remaining != model.Remaining(now_ns) ||
          status.retry_after_ns != retry_ns ||
          status.reset_after_ns != model.ResetAfter(now_ns)) {
        ++wrong_;
      }
    }
  }

  const uint64_t keys_;
  const uint64_t cap_;
  FakeClock clock_{kStart};
  Limiter limiter_;
  std::vector<NaiveBucket> old_;
  uint64_t admitted_ = 0;
  uint64_t shared_ = 0;
  uint64_t most_buckets_ = 0;
  int64_t resident_at_cap_ = 0;
  int64_t growth_ = 0;
  int wrong_ = 0;
};

TEST(Flood, NeitherGrowsTheProcessNorWinsBurstsNorHarmsAKeyThatWasThere) {
  const uint64_t keys = FloodKeys();
  const uint64_t cap = keys / 20;
  Flood flood(keys, cap);

  flood.Run();

  std::cout << keys << " keys, cap " << cap << ": " << flood.admitted()
            << " tokens admitted, " << flood.growth()
            << " bytes more after the cap\n";
  EXPECT_EQ(flood.most_buckets(), cap);
  EXPECT_EQ(flood.shared(), keys - (cap - kOldKeys));
  // Each bucket once, and the overflow bucket once: half an hour is too short
  // for a second time.
  EXPECT_EQ(flood.admitted(), (cap - kOldKeys) * kBurst + kBurst);
  EXPECT_EQ(flood.wrong_for_old_keys(), 0);
  EXPECT_LT(flood.growth(), 4'000'000);

  // Once they are full, all are forgotten, and a new key gets its own.
  flood.clock().Advance(3600 * kSecond);
  flood.limiter().Sweep(cap);
  EXPECT_EQ(flood.limiter().bucket_count(), 0u);
  EXPECT_FALSE(
      AskFor(flood.limiter(), {{"user", "late"}}).statuses[0].overflow);
}

}  // namespace
}  // namespace tollgate
