#ifndef TOLLGATE_CLIENT_CLI_LATENCY_HISTOGRAM_H_
#define TOLLGATE_CLIENT_CLI_LATENCY_HISTOGRAM_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace tollgate::cli {

// Counts durations in buckets that are at most 1/32 of their value wide, so a
// quantile is at most 3.2 % too high, and never too low. Thread-compatible.
class LatencyHistogram {
 public:
  // 0 or more.
  void Add(int64_t nanoseconds);
  void Merge(const LatencyHistogram& other);

  // A duration that at least `per_mille` of every 1,000 do not exceed (0 to
  // 1,000), in nanoseconds. 0 if there are none.
  [[nodiscard]] int64_t Quantile(uint32_t per_mille) const;
  [[nodiscard]] int64_t max() const { return max_; }
  [[nodiscard]] uint64_t count() const { return count_; }

 private:
  static constexpr int kBits = 5;  // of precision
  static constexpr size_t kBuckets = (64 - kBits) << kBits;

  std::array<uint64_t, kBuckets> counts_{};
  uint64_t count_ = 0;
  int64_t max_ = 0;
};

}  // namespace tollgate::cli

#endif  // TOLLGATE_CLIENT_CLI_LATENCY_HISTOGRAM_H_
