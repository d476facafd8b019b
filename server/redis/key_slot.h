#ifndef TOLLGATE_SERVER_REDIS_KEY_SLOT_H_
#define TOLLGATE_SERVER_REDIS_KEY_SLOT_H_

#include "absl/strings/string_view.h"

namespace tollgate::redis {

inline constexpr int kSlots = 16384;

// The hash slot of a key, 0 to kSlots - 1, as a Redis Cluster computes it:
// CRC16 (XMODEM) of what is between the first { and the next }, or of the whole
// key if there is nothing between them. Thread-safe.
[[nodiscard]] int KeySlot(absl::string_view key);

}  // namespace tollgate::redis

#endif  // TOLLGATE_SERVER_REDIS_KEY_SLOT_H_
