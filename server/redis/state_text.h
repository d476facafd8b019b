#ifndef TOLLGATE_SERVER_REDIS_STATE_TEXT_H_
#define TOLLGATE_SERVER_REDIS_STATE_TEXT_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/limiter/algorithm.h"
#include "server/limiter/limit.h"
#include "server/limiter/loose_bucket.h"

// Buckets as Redis keeps them: the text of a limit, a space, and the text of a
// state, whose numbers bucket_algorithms.lua describes. Thread-safe.
namespace tollgate::redis {

// Such as "10/1000000000/20/0": tokens, period in nanoseconds, burst, hold in
// nanoseconds.
[[nodiscard]] std::string LimitText(const Limit& limit);

// What LimitText wrote, or INVALID_ARGUMENT.
[[nodiscard]] absl::StatusOr<Limit> ParseLimitText(absl::string_view text);

// The state of a bucket of `algorithm` under `limit`, seen at `now_ns`; "" is
// one that nobody has touched. INVALID_ARGUMENT if the text is no such state.
[[nodiscard]] absl::StatusOr<LooseBucket> ReadState(const Algorithm& algorithm,
                                                    const Limit& limit,
                                                    absl::string_view text,
                                                    int64_t now_ns);

// The text of a state that decides the same as `bucket` from its own time on.
[[nodiscard]] std::string WriteState(const LooseBucket& bucket);

}  // namespace tollgate::redis

#endif  // TOLLGATE_SERVER_REDIS_STATE_TEXT_H_
