#ifndef TOLLGATE_SERVER_APP_STORE_FLAGS_H_
#define TOLLGATE_SERVER_APP_STORE_FLAGS_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/app/flag.h"
#include "server/redis/redis_options.h"

namespace tollgate {

// The flags that say where buckets live, and what holds while Redis is away.
[[nodiscard]] absl::Span<const Flag> StoreFlags();

// Adds the password of TOLLGATE_STORE_PASSWORD, which is no flag, because
// others see the flags of a process. INVALID_ARGUMENT for a password without a
// Redis, or one that is given twice.
[[nodiscard]] absl::Status FinishStoreFlags(ServerOptions& options);

// Where the Redis of --store is and how to log in there. Reads
// --store-password-file. INVALID_ARGUMENT names the flag, and never holds a
// password.
[[nodiscard]] absl::StatusOr<redis::RedisOptions> RedisOf(
    const ServerOptions& options);

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_APP_STORE_FLAGS_H_
