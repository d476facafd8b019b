#ifndef TOLLGATE_SERVER_LIMITER_WINDOW_H_
#define TOLLGATE_SERVER_LIMITER_WINDOW_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "server/limiter/limit.h"

// What the algorithms that count in windows share.
namespace tollgate::window {

// The start of the window of length `period_ns` that holds `now_ns`, which is
// not before the Unix epoch.
inline int64_t Start(int64_t now_ns, int64_t period_ns) {
  return now_ns - now_ns % period_ns;
}

// INVALID_ARGUMENT unless the burst is the tokens and nothing is held.
inline absl::Status Validate(absl::string_view name, const Limit& limit) {
  if (limit.burst() != limit.tokens()) {
    return absl::InvalidArgumentError(
        absl::StrCat("got a burst of ", limit.burst(), ", which ", name,
                     " does not have: leave it out"));
  }
  if (limit.hold_ns() != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("got a max_delay, which ", name, " does not have"));
  }
  return absl::OkStatus();
}

// What is left of `tokens`; never below zero.
inline uint64_t Left(uint64_t tokens, uint64_t spent) {
  return spent >= tokens ? 0 : tokens - spent;
}

}  // namespace tollgate::window

#endif  // TOLLGATE_SERVER_LIMITER_WINDOW_H_
