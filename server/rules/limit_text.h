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
//   period                            of duration_text.h: 10/second 100/5m
//
// INVALID_ARGUMENT says `got "0/second", want at least 1 token`, without a
// field. Thread-safe.
[[nodiscard]] absl::StatusOr<Limit> ParseLimit(absl::string_view text);

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_RULES_LIMIT_TEXT_H_
