#ifndef TOLLGATE_SERVER_APP_TLS_FILES_H_
#define TOLLGATE_SERVER_APP_TLS_FILES_H_

#include <optional>

#include "absl/status/statusor.h"
#include "server/app/server_options.h"
#include "server/rpc/rpc_server.h"

namespace tollgate {

// The files of --tls-cert, --tls-key and --tls-client-ca, or none without them.
// They can be read, the key is the certificate's, and the authority has a
// certificate: else INVALID_ARGUMENT names the flag and the file. Nothing of
// their contents is told.
[[nodiscard]] absl::StatusOr<std::optional<TlsFiles>> CheckedTlsFiles(
    const ServerOptions& options);

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_APP_TLS_FILES_H_
