#ifndef TOLLGATE_SERVER_APP_NETWORK_FLAGS_H_
#define TOLLGATE_SERVER_APP_NETWORK_FLAGS_H_

#include <string>

#include "absl/types/span.h"
#include "server/app/flag.h"
#include "server/app/server_options.h"

namespace tollgate {

// The flags that say where the server listens, to whom, and what connections
// may do.
[[nodiscard]] absl::Span<const Flag> NetworkFlags();

// What an operator who asks for client certificates may have overlooked, for
// the log: that HTTP, beyond this machine, decides without one. Or nothing.
[[nodiscard]] std::string WarningOf(const ServerOptions& options);

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_APP_NETWORK_FLAGS_H_
