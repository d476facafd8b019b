#include "server/rpc/tls.h"

#include "grpcpp/security/tls_certificate_provider.h"
#include "grpcpp/security/tls_credentials_options.h"

namespace tollgate {
namespace {

constexpr unsigned int kRefreshSeconds = 1;

}  // namespace

std::shared_ptr<grpc::ServerCredentials> MakeCredentials(
    const std::optional<TlsFiles>& files) {
  if (!files.has_value()) return grpc::InsecureServerCredentials();
  grpc::experimental::TlsServerCredentialsOptions options(
      std::make_shared<grpc::experimental::FileWatcherCertificateProvider>(
          files->key, files->cert, files->client_ca, kRefreshSeconds));
  options.watch_identity_key_cert_pairs();
  options.set_cert_request_type(GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE);
  if (!files->client_ca.empty()) {
    options.watch_root_certs();
    options.set_cert_request_type(
        GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  }
  return grpc::experimental::TlsServerCredentials(options);
}

}  // namespace tollgate
