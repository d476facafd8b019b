#ifndef TOLLGATE_SERVER_REDIS_RUN_ERROR_H_
#define TOLLGATE_SERVER_REDIS_RUN_ERROR_H_

#include <cstddef>

#include "absl/strings/string_view.h"

namespace tollgate::redis {

// Why a run has no answer of its script. A bounded set, for metrics: what a
// server writes never becomes a label.
enum class RunError {
  // Ours.
  kTimeout,
  kNotConnected,
  kQueueFull,
  kConnectionLost,
  kTooManyRedirects,
  // Said by Redis.
  kBusy,  // a script or module runs for too long
  kClusterDown,
  kCrossSlot,  // keys of several slots in one run
  kLoading,
  kMasterDown,
  kMisconf,  // it cannot persist, and is told not to write then
  kNoAuth,
  kNoBucket,  // said by our script: a value at our key that is none
  kNoPerm,
  kNoReplicas,
  kNoScript,
  kOom,
  kReadOnly,
  kTryAgain,
  kWrongPass,
  kWrongType,
  kOther,
};
inline constexpr size_t kRunErrors = static_cast<size_t>(RunError::kOther) + 1;

// Such as "timeout", "oom".
[[nodiscard]] absl::string_view NameOf(RunError error);

// What kind of error a message of Redis is, by its first word; kOther if it is
// none of those.
[[nodiscard]] RunError ErrorOf(absl::string_view message);

}  // namespace tollgate::redis

#endif  // TOLLGATE_SERVER_REDIS_RUN_ERROR_H_
