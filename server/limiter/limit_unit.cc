#include "server/limiter/limit_unit.h"

#include <array>

#include "absl/strings/match.h"

namespace tollgate {
namespace {

struct Unit {
  LimitUnit unit;
  absl::string_view name;
  int64_t seconds;
};

constexpr std::array<Unit, 7> kUnits = {{
    {LimitUnit::kSecond, "second", 1},
    {LimitUnit::kMinute, "minute", 60},
    {LimitUnit::kHour, "hour", 3600},
    {LimitUnit::kDay, "day", 86400},
    {LimitUnit::kWeek, "week", 7 * 86400},
    {LimitUnit::kMonth, "month", 30 * 86400},
    {LimitUnit::kYear, "year", 365 * 86400},
}};

}  // namespace

std::optional<absl::Duration> PeriodOf(LimitUnit unit) {
  for (const Unit& known : kUnits) {
    if (known.unit == unit) return absl::Seconds(known.seconds);
  }
  return std::nullopt;
}

LimitUnit UnitOf(int64_t period_ns) {
  for (const Unit& known : kUnits) {
    if (known.seconds * 1'000'000'000 == period_ns) return known.unit;
  }
  return LimitUnit::kUnknown;
}

absl::string_view LimitUnitName(LimitUnit unit) {
  for (const Unit& known : kUnits) {
    if (known.unit == unit) return known.name;
  }
  return "unknown";
}

LimitUnit ParseLimitUnit(absl::string_view name) {
  for (const Unit& known : kUnits) {
    if (absl::EqualsIgnoreCase(known.name, name)) return known.unit;
  }
  return LimitUnit::kUnknown;
}

}  // namespace tollgate
