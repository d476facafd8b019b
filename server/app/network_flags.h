#ifndef TOLLGATE_SERVER_APP_NETWORK_FLAGS_H_
#define TOLLGATE_SERVER_APP_NETWORK_FLAGS_H_

#include "absl/types/span.h"
#include "server/app/flag.h"

namespace tollgate {

// The flags that say where the server listens, to whom, and what connections
// may do.
[[nodiscard]] absl::Span<const Flag> NetworkFlags();

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_APP_NETWORK_FLAGS_H_
