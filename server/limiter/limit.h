#ifndef TOLLGATE_SERVER_LIMITER_LIMIT_H_
#define TOLLGATE_SERVER_LIMITER_LIMIT_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace tollgate {

// How much may pass: tokens for each period, and a burst, which is the
// bucket's capacity. An invalid Limit cannot exist. Immutable value.
class Limit {
 public:
  // 1 per second.
  Limit() = default;

  // INVALID_ARGUMENT unless 1 <= tokens <= 2^32-1, 1 <= burst <= 2^32-1,
  // 1 ns <= period <= 3650 days in whole nanoseconds, and an empty bucket is
  // full again (burst * period / tokens) within 36500 days.
  static absl::StatusOr<Limit> Create(uint64_t tokens, absl::Duration period,
                                      uint64_t burst);
  // Burst = tokens.
  static absl::StatusOr<Limit> Create(uint64_t tokens, absl::Duration period) {
    return Create(tokens, period, tokens);
  }

  [[nodiscard]] uint32_t tokens() const { return tokens_; }
  [[nodiscard]] uint32_t burst() const { return burst_; }
  [[nodiscard]] int64_t period_ns() const { return period_ns_; }

  // Such as "10/1s burst 20".
  [[nodiscard]] std::string ToString() const;

  friend bool operator==(const Limit&, const Limit&) = default;

 private:
  Limit(uint32_t tokens, int64_t period_ns, uint32_t burst)
      : tokens_(tokens), burst_(burst), period_ns_(period_ns) {}

  uint32_t tokens_ = 1;
  uint32_t burst_ = 1;
  int64_t period_ns_ = 1'000'000'000;
};

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_LIMITER_LIMIT_H_
