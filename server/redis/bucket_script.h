#ifndef TOLLGATE_SERVER_REDIS_BUCKET_SCRIPT_H_
#define TOLLGATE_SERVER_REDIS_BUCKET_SCRIPT_H_

#include <string>

#include "absl/strings/string_view.h"

// The Lua that runs inside Redis: bucket_algorithms.lua and bucket_take.lua.
// Thread-safe.
namespace tollgate::redis {

// Sets `now_s` and `now_ns`, seconds and nanoseconds since the Unix epoch, from
// Redis' own clock.
inline constexpr absl::string_view kRedisClock =
    "local clock = redis.call('TIME')\n"
    "local now_s, now_ns = tonumber(clock[1]), clock[2] * 1000\n";

// Asks buckets, with `clock` as the lines that tell the time.
[[nodiscard]] std::string TakeScript(absl::string_view clock = kRedisClock);

// Deletes KEYS; replies how many of the first ARGV[1] there were.
[[nodiscard]] std::string ResetScript();

}  // namespace tollgate::redis

#endif  // TOLLGATE_SERVER_REDIS_BUCKET_SCRIPT_H_
