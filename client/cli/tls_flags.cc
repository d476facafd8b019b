#include "client/cli/tls_flags.h"

#include <utility>

#include "absl/status/status.h"

namespace tollgate::cli {

absl::StatusOr<std::optional<client::TlsOptions>> ReadTls(
    const TlsFlags& flags) {
  if (flags.ca.empty() && flags.cert.empty() && flags.key.empty() &&
      flags.server_name.empty()) {
    return std::optional<client::TlsOptions>();
  }
  if (flags.cert.empty() != flags.key.empty()) {
    return absl::InvalidArgumentError(
        flags.key.empty() ? "--tls-key: missing, want the key of --tls-cert"
                          : "--tls-cert: missing, want the certificate of "
                            "--tls-key");
  }
  absl::StatusOr<client::TlsOptions> tls =
      client::ReadTlsFiles(flags.ca, flags.cert, flags.key);
  if (!tls.ok()) return tls.status();
  tls->server_name = flags.server_name;
  return std::optional<client::TlsOptions>(*std::move(tls));
}

}  // namespace tollgate::cli
