#include "server/app/tls_files.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509err.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace tollgate {
namespace {

using Context = std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)>;

absl::Status BadFile(absl::string_view flag, const std::string& path,
                     absl::string_view wanted) {
  return absl::InvalidArgumentError(
      absl::StrCat(flag, ": got \"", path, "\", want ", wanted));
}

absl::Status CheckReadable(absl::string_view flag, const std::string& path) {
  if (::access(path.c_str(), R_OK) == 0) return absl::OkStatus();
  return BadFile(
      flag, path,
      absl::StrCat("a file that can be read: ", std::strerror(errno)));
}

// A key that asks for a password would ask on the terminal.
int NoPassword(char*, int, int, void*) { return -1; }

bool SaysMismatch(unsigned long error) {  // NOLINT(google-runtime-int)
  const int reason = ERR_GET_REASON(error);
  return ERR_GET_LIB(error) == ERR_LIB_X509 &&
         (reason == X509_R_KEY_VALUES_MISMATCH ||
          reason == X509_R_KEY_TYPE_MISMATCH);
}

absl::Status CheckPair(SSL_CTX* context, const TlsFiles& files) {
  if (SSL_CTX_use_certificate_chain_file(context, files.cert.c_str()) != 1) {
    return BadFile("--tls-cert", files.cert,
                   "PEM: the server's certificate, then those up to its "
                   "authority");
  }
  ERR_clear_error();
  const bool used = SSL_CTX_use_PrivateKey_file(context, files.key.c_str(),
                                                SSL_FILETYPE_PEM) == 1;
  if (!used && !SaysMismatch(ERR_peek_last_error())) {
    return BadFile("--tls-key", files.key,
                   "PEM: a private key without a password");
  }
  if (!used || SSL_CTX_check_private_key(context) != 1) {
    return BadFile("--tls-key", files.key,
                   absl::StrCat("the key of the certificate in ", files.cert));
  }
  return absl::OkStatus();
}

absl::Status Check(const TlsFiles& files) {
  absl::Status status = CheckReadable("--tls-cert", files.cert);
  if (status.ok()) status = CheckReadable("--tls-key", files.key);
  if (status.ok() && !files.client_ca.empty()) {
    status = CheckReadable("--tls-client-ca", files.client_ca);
  }
  if (!status.ok()) return status;
  const Context context(SSL_CTX_new(TLS_server_method()), &SSL_CTX_free);
  if (context == nullptr) return absl::ResourceExhaustedError("TLS: no memory");
  SSL_CTX_set_default_passwd_cb(context.get(), &NoPassword);
  status = CheckPair(context.get(), files);
  if (status.ok() && !files.client_ca.empty() &&
      SSL_CTX_load_verify_file(context.get(), files.client_ca.c_str()) != 1) {
    status = BadFile("--tls-client-ca", files.client_ca,
                     "PEM: the certificates of the authorities that sign "
                     "clients");
  }
  ERR_clear_error();
  return status;
}

}  // namespace

absl::StatusOr<std::optional<TlsFiles>> CheckedTlsFiles(
    const ServerOptions& options) {
  if (options.tls_cert.empty()) return std::optional<TlsFiles>();
  TlsFiles files{.cert = options.tls_cert,
                 .key = options.tls_key,
                 .client_ca = options.tls_client_ca};
  absl::Status status = Check(files);
  if (!status.ok()) return status;
  return std::optional<TlsFiles>(std::move(files));
}

}  // namespace tollgate
