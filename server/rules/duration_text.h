#ifndef TOLLGATE_SERVER_RULES_DURATION_TEXT_H_
#define TOLLGATE_SERVER_RULES_DURATION_TEXT_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace tollgate {

// How rule files write a span of time:
//
//   duration = 1*(count unit)         500ms 30s 10m 1h 7d 1h30m 2week
//   period   = word / duration        second 5m
//   count    = 1*DIGIT
//   unit     = word
//            / "ns" / "us" / "ms" / "s" / "m" (minute) / "h" / "d" / "w"
//   word     = "second" / "minute" / "hour" / "day" / "week"
//            / "month" (30 days) / "year" (365 days)
//
// Lower case, no plural, no fraction, no sign, no spaces. The counted units add
// up, to 1 ns at least and 3650 days at most. INVALID_ARGUMENT says `got ...,
// want ...`, without a field. Thread-safe.

[[nodiscard]] absl::StatusOr<absl::Duration> ParseDuration(
    absl::string_view text);

// `text` is what messages quote: the limit that the period is a part of.
[[nodiscard]] absl::StatusOr<absl::Duration> ParsePeriod(
    absl::string_view text, absl::string_view period);

// What a duration looks like, for messages.
inline constexpr absl::string_view kWantDuration =
    "a duration, such as 500ms, 30s, 10m, 1h, 7d or 1h30m";

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_RULES_DURATION_TEXT_H_
