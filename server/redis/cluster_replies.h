#ifndef TOLLGATE_SERVER_REDIS_CLUSTER_REPLIES_H_
#define TOLLGATE_SERVER_REDIS_CLUSTER_REPLIES_H_

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/redis/redis_options.h"
#include "server/redis/script_runner.h"

namespace tollgate::redis {

// What the nodes of a cluster say of where keys are. Nothing of it is believed
// beyond its form. `asked` is the host that said it, which stands for a host
// that it leaves out.

// An error that sends a command elsewhere.
struct Redirect {
  bool ask = false;  // this command alone; else the slot has moved for good
  int slot = 0;
  Endpoint to;
};
// Nothing if `message` is no such error.
[[nodiscard]] std::optional<Redirect> ParseRedirect(absl::string_view message,
                                                    absl::string_view asked);

// Slots `first` to `last` are served by `primary`.
struct SlotRange {
  int first = 0;
  int last = 0;
  Endpoint primary;
};
inline constexpr size_t kMaxRanges = 16384;

// The reply of CLUSTER SLOTS. INVALID_ARGUMENT if it is not of its form; ranges
// whose primary has no known address are left out.
[[nodiscard]] absl::StatusOr<std::vector<SlotRange>> ParseSlots(
    const Reply& reply, absl::string_view asked);

}  // namespace tollgate::redis

#endif  // TOLLGATE_SERVER_REDIS_CLUSTER_REPLIES_H_
