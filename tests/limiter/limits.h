#ifndef TOLLGATE_TESTS_LIMITER_LIMITS_H_
#define TOLLGATE_TESTS_LIMITER_LIMITS_H_

#include <cstdint>
#include <cstdlib>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/limiter/limit.h"
// Before kSecond: GCC takes enumerators that come later for its shadows.
#include "server/limiter/limit_unit.h"

namespace tollgate {

inline constexpr int64_t kSecond = 1'000'000'000;
inline constexpr int64_t kMilli = 1'000'000;
// An instant that no limit of these tests divides: 2023-11-14
// 22:13:20.000000001
inline constexpr int64_t kStart = 1'700'000'000'000'000'001;

// A limit that a test knows to be valid. Burst 0 means as many as the tokens.
inline Limit MakeLimit(uint64_t tokens, absl::Duration period,
                       uint64_t burst = 0) {
  const absl::StatusOr<Limit> limit =
      Limit::Create(tokens, period, burst == 0 ? tokens : burst);
  if (!limit.ok()) std::abort();
  return *limit;
}

inline Limit PerSecond(uint64_t tokens, uint64_t burst = 0) {
  return MakeLimit(tokens, absl::Seconds(1), burst);
}
inline Limit PerMinute(uint64_t tokens, uint64_t burst = 0) {
  return MakeLimit(tokens, absl::Minutes(1), burst);
}
inline Limit PerHour(uint64_t tokens, uint64_t burst = 0) {
  return MakeLimit(tokens, absl::Hours(1), burst);
}

// The same limit with a hold that a test knows to be valid.
inline Limit Holding(const Limit& limit, absl::Duration hold) {
  const absl::StatusOr<Limit> holding = limit.WithHold(hold);
  if (!holding.ok()) std::abort();
  return *holding;
}

}  // namespace tollgate

#endif  // TOLLGATE_TESTS_LIMITER_LIMITS_H_
