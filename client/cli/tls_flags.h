#ifndef TOLLGATE_CLIENT_CLI_TLS_FLAGS_H_
#define TOLLGATE_CLIENT_CLI_TLS_FLAGS_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "client/tls.h"

namespace tollgate::cli {

// --tls-ca, --tls-cert, --tls-key, --tls-server-name; empty where not given.
struct TlsFlags {
  std::string ca;
  std::string cert;
  std::string key;
  std::string server_name;
};

// TLS with what is in those files; none if no flag is given, which is plain
// text. INVALID_ARGUMENT if a certificate comes without its key or a key
// without its certificate; NOT_FOUND and the like name a file.
[[nodiscard]] absl::StatusOr<std::optional<client::TlsOptions>> ReadTls(
    const TlsFlags& flags);

}  // namespace tollgate::cli

#endif  // TOLLGATE_CLIENT_CLI_TLS_FLAGS_H_
