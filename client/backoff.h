#ifndef TOLLGATE_CLIENT_BACKOFF_H_
#define TOLLGATE_CLIENT_BACKOFF_H_

#include <algorithm>
#include <cstdint>

#include "absl/numeric/int128.h"

namespace tollgate::client {

// Pauses between attempts: each twice the one before up to the longest, and
// each shortened at random by up to a half, so that clients spread out. Pure:
// randomness is an argument. Thread-compatible.
class Backoff {
 public:
  // 1 <= min_ns <= max_ns < 2^62.
  Backoff(int64_t min_ns, int64_t max_ns)
      : min_ns_(min_ns), max_ns_(max_ns), next_ns_(min_ns) {}

  // The next pause. `random` is uniform over its type.
  int64_t Next(uint32_t random) {
    const int64_t pause_ns = next_ns_;
    next_ns_ = std::min(pause_ns * 2, max_ns_);
    const auto half = static_cast<uint64_t>(pause_ns / 2);
    return pause_ns -
           static_cast<int64_t>((absl::uint128(half) * random) >> 32);
  }
  // The pause after this is the shortest again.
  void Reset() { next_ns_ = min_ns_; }

 private:
  int64_t min_ns_;
  int64_t max_ns_;
  int64_t next_ns_;
};

// SplitMix64 (Steele, Lea, Flood 2014): pauses need only differ between
// clients. Thread-compatible.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint32_t Next() {
    state_ += 0x9E3779B97F4A7C15;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return static_cast<uint32_t>(z >> 32);
  }

 private:
  uint64_t state_;
};

}  // namespace tollgate::client

#endif  // TOLLGATE_CLIENT_BACKOFF_H_
