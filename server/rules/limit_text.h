#ifndef TOLLGATE_SERVER_RULES_LIMIT_TEXT_H_
#define TOLLGATE_SERVER_RULES_LIMIT_TEXT_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/limiter/limit.h"

namespace tollgate {

// Reads a limit as rule files write it, with burst = tokens:
//
//   limit  = tokens "/" period        spaces around "/" may stand
//   tokens = 1*DIGIT                  1 to 4294967295
//   period = unit / 1*(count unit)    10/second 100/5m 1/1h30m 3/2week
//   count  = 1*DIGIT
//   unit   = "second" / "minute" / "hour" / "day" / "week"
//          / "month" (30 days) / "year" (365 days)
//          / "ns" / "us" / "ms" / "s" / "m" (minute) / "h" / "d" / "w"
//
// Lower case, no plural, no fraction, no sign; a short unit needs a count. The
// counted units add up. INVALID_ARGUMENT says `got "0/second", want at least 1
// token`, without a field. Thread-safe.
[[nodiscard]] absl::StatusOr<Limit> ParseLimit(absl::string_view text);

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_RULES_LIMIT_TEXT_H_
