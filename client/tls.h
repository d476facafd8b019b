#ifndef TOLLGATE_CLIENT_TLS_H_
#define TOLLGATE_CLIENT_TLS_H_

#include <string>

#include "absl/status/statusor.h"

namespace tollgate::client {

// How the connection to the service is encrypted. Certificates and keys are
// PEM text; ReadTlsFiles reads them from files. They hold for the client's
// life: make a new client for new ones. A plain value.
struct TlsOptions {
  // Who signs the service's certificate. Empty: whom gRPC trusts by default.
  std::string ca;
  // This client's certificate, with what leads to its authority, and its key:
  // for a service that asks for them (mTLS). Both or neither.
  std::string cert;
  std::string key;
  // The name that the service's certificate must have, where it is not the
  // host of ClientOptions::target, such as for an IP address.
  std::string server_name;
};

// TLS with the contents of these files; an empty path leaves its field empty.
// NOT_FOUND or PERMISSION_DENIED names the path that cannot be read,
// INVALID_ARGUMENT one that is over 1 MiB. What is in them, Client::Create
// checks.
[[nodiscard]] absl::StatusOr<TlsOptions> ReadTlsFiles(
    const std::string& ca_path, const std::string& cert_path,
    const std::string& key_path);

}  // namespace tollgate::client

#endif  // TOLLGATE_CLIENT_TLS_H_
