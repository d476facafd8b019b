#ifndef TOLLGATE_SERVER_LIMITER_LIMIT_UNIT_H_
#define TOLLGATE_SERVER_LIMITER_LIMIT_UNIT_H_

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace tollgate {

// The units of time in which Envoy's rate limit protocol and its rule files
// speak of limits, under the numbers that they have there. The protocol's enums
// are open, so any number may arrive: see PeriodOf.
enum class LimitUnit : int32_t {
  kUnknown = 0,
  kSecond = 1,
  kMinute = 2,
  kHour = 3,
  kDay = 4,
  kMonth = 5,  // 30 days
  kYear = 6,   // 365 days
  kWeek = 7,
};

// How long the unit is; nothing if it is kUnknown or no unit at all.
[[nodiscard]] std::optional<absl::Duration> PeriodOf(LimitUnit unit);

// The unit that is `period_ns` long, or kUnknown.
[[nodiscard]] LimitUnit UnitOf(int64_t period_ns);

// "second", "minute", ...; "unknown" for what is no unit.
[[nodiscard]] absl::string_view LimitUnitName(LimitUnit unit);

// The unit of that name in any case; kUnknown if it is none.
[[nodiscard]] LimitUnit ParseLimitUnit(absl::string_view name);

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_LIMITER_LIMIT_UNIT_H_
