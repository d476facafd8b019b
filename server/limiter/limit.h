#ifndef TOLLGATE_SERVER_LIMITER_LIMIT_H_
#define TOLLGATE_SERVER_LIMITER_LIMIT_H_

#include <cstdint>
#include <limits>
#include <string>

#include "absl/numeric/int128.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace tollgate {

// A span of time, exact where a limit's arithmetic needs it: nanoseconds and
// 1/tokens of a nanosecond, with 0 <= part < tokens of that limit.
struct ExactDuration {
  int64_t ns = 0;
  uint64_t part = 0;

  friend bool operator==(const ExactDuration&, const ExactDuration&) = default;
  friend bool operator<(const ExactDuration& a, const ExactDuration& b) {
    return a.ns != b.ns ? a.ns < b.ns : a.part < b.part;
  }
};

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

  // The same limit with a hold: how long an algorithm may put off what it does
  // not let pass at once. For leaky_bucket the longest delay, for a penalty the
  // block. INVALID_ARGUMENT unless it is 0 to 3650 days in whole nanoseconds.
  [[nodiscard]] absl::StatusOr<Limit> WithHold(absl::Duration hold) const;

  // That many percent of the limit: tokens and burst rounded down, at least 1
  // of each; the same period and hold. INVALID_ARGUMENT where there is no such
  // Limit.
  [[nodiscard]] absl::StatusOr<Limit> Share(uint32_t percent) const;

  [[nodiscard]] uint32_t tokens() const { return tokens_; }
  [[nodiscard]] uint32_t burst() const { return burst_; }
  [[nodiscard]] int64_t period_ns() const { return period_ns_; }
  [[nodiscard]] int64_t hold_ns() const { return hold_ns_; }

  // The time in which one token refills: period / tokens.
  [[nodiscard]] ExactDuration token_time() const { return token_time_; }
  // The time in which an empty bucket fills: burst * period / tokens.
  [[nodiscard]] ExactDuration fill_time() const { return fill_time_; }

  // amount / period in nanoseconds, rounded up. Without dividing: a
  // multiplication by the period's reciprocal, which is too low by one at most
  // (Granlund and Montgomery, PLDI 1994), and a correction.
  [[nodiscard]] uint64_t PeriodsIn(uint64_t amount) const {
    const auto period = static_cast<uint64_t>(period_ns_);
    uint64_t periods = absl::Uint128High64(absl::uint128(amount) * reciprocal_);
    uint64_t rest = amount - periods * period;
    if (rest >= period) {
      ++periods;
      rest -= period;
    }
    return periods + (rest != 0 ? 1 : 0);
  }

  // Such as "10/1s burst 20".
  [[nodiscard]] std::string ToString() const;

  friend bool operator==(const Limit& a, const Limit& b) {
    return a.tokens_ == b.tokens_ && a.burst_ == b.burst_ &&
           a.period_ns_ == b.period_ns_ && a.hold_ns_ == b.hold_ns_;
  }

 private:
  // floor((2^64 - 1) / period_ns)
  static constexpr uint64_t Reciprocal(int64_t period_ns) {
    return std::numeric_limits<uint64_t>::max() /
           static_cast<uint64_t>(period_ns);
  }

  uint32_t tokens_ = 1;
  uint32_t burst_ = 1;
  int64_t period_ns_ = 1'000'000'000;
  int64_t hold_ns_ = 0;
  // Derived once, so that a decision need not divide.
  ExactDuration token_time_{1'000'000'000, 0};
  ExactDuration fill_time_{1'000'000'000, 0};
  uint64_t reciprocal_ = Reciprocal(1'000'000'000);
};

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_LIMITER_LIMIT_H_
