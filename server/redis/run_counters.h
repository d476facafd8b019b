#ifndef TOLLGATE_SERVER_REDIS_RUN_COUNTERS_H_
#define TOLLGATE_SERVER_REDIS_RUN_COUNTERS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "server/redis/run_error.h"

namespace tollgate::redis {

// What became of runs, for metrics. Statistics, each for itself. Thread-safe.
class RunCounters {
 public:
  // Upper bounds of how long runs took, in nanoseconds; a last bucket has the
  // rest.
  static constexpr std::array<int64_t, 12> kBoundsNs = {
      50'000,     100'000,    250'000,     500'000,
      1'000'000,  2'500'000,  5'000'000,   10'000'000,
      25'000'000, 50'000'000, 100'000'000, 1'000'000'000};
  using Durations = std::array<uint64_t, kBoundsNs.size() + 1>;

  // A run ended, with an answer of its script.
  void CountAnswer(int64_t took_ns) {
    ++answers_;
    CountDuration(took_ns);
  }
  // A run ended without; `took_ns` is 0 if it was turned away.
  void CountError(RunError error, int64_t took_ns) {
    ++errors_[static_cast<size_t>(error)];
    CountDuration(took_ns);
  }
  void CountConnection() { ++connections_made_; }
  void CountLoss() { ++connections_lost_; }
  void CountRedirect() { ++redirects_; }

  [[nodiscard]] uint64_t answers() const { return answers_; }
  [[nodiscard]] uint64_t errors(RunError error) const {
    return errors_[static_cast<size_t>(error)];
  }
  // Connections that were made and greeted, the first ones included.
  [[nodiscard]] uint64_t connections_made() const { return connections_made_; }
  // Those of them that ended.
  [[nodiscard]] uint64_t connections_lost() const { return connections_lost_; }
  [[nodiscard]] uint64_t redirects() const { return redirects_; }
  // How many runs took how long, one count for each bucket alone.
  [[nodiscard]] Durations durations() const {
    Durations counts{};
    for (size_t i = 0; i < counts.size(); ++i) counts[i] = durations_[i];
    return counts;
  }
  [[nodiscard]] uint64_t total_ns() const { return total_ns_; }

 private:
  using Count = std::atomic<uint64_t>;

  void CountDuration(int64_t took_ns) {
    size_t bucket = 0;
    while (bucket < kBoundsNs.size() && took_ns > kBoundsNs[bucket]) ++bucket;
    ++durations_[bucket];
    total_ns_ += static_cast<uint64_t>(took_ns);
  }

  Count answers_{0};
  std::array<Count, kRunErrors> errors_{};
  Count connections_made_{0};
  Count connections_lost_{0};
  Count redirects_{0};
  std::array<Count, kBoundsNs.size() + 1> durations_{};
  Count total_ns_{0};
};

}  // namespace tollgate::redis

#endif  // TOLLGATE_SERVER_REDIS_RUN_COUNTERS_H_
