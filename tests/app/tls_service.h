#ifndef TOLLGATE_TESTS_APP_TLS_SERVICE_H_
#define TOLLGATE_TESTS_APP_TLS_SERVICE_H_

#include <chrono>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "grpcpp/grpcpp.h"
#include "server/app/server_app.h"
#include "tests/app/two_rules.h"
#include "tests/support/certificates.h"
#include "tests/support/temp_files.h"
#include "tollgate/v1/rate_limiter.grpc.pb.h"

// A service over TLS, and those who ask it with one certificate or another.
namespace tollgate {

inline constexpr char kName[] = "tollgate.test";

// Made once: authorities `ca` and `other`, the server's certificates `server`
// and `newer`, and clients of both authorities.
inline const Certificates& Made() {
  static const Certificates* const made = [] {
    const auto* all = new Certificates;
    all->MakeAuthority("ca");
    all->MakeAuthority("other");
    all->Make("server", "ca", absl::StrCat("DNS:", kName));
    all->Make("newer", "ca", absl::StrCat("DNS:", kName));
    all->Make("client", "ca", "URI:spiffe://test/shop");
    all->Make("stranger", "other", "URI:spiffe://test/shop");
    return all;
  }();
  return *made;
}

inline ServerOptions TlsOptions(const TempFiles& files) {
  ServerOptions options;
  options.rules = files.Write("rules.yaml", kTwoRules);
  options.listen = "127.0.0.1:0";
  options.http_listen = "127.0.0.1:0";
  options.tls_cert = Made().Path("server.pem");
  options.tls_key = Made().Path("server.key");
  return options;
}

inline ServerOptions MutualTlsOptions(const TempFiles& files) {
  ServerOptions options = TlsOptions(files);
  options.tls_client_ca = Made().Path("ca.pem");
  return options;
}

// What became of one call on a connection of its own.
struct Answer {
  grpc::Status status;
  std::string server_certificate;
};

// A connection of its own. `client`: whose certificate is shown, or none.
inline std::shared_ptr<grpc::Channel> Connection(const ServerApp& app,
                                                 const std::string& client,
                                                 const std::string& authority) {
  grpc::SslCredentialsOptions ssl;
  ssl.pem_root_certs = Made().Read(authority + ".pem");
  if (!client.empty()) {
    ssl.pem_cert_chain = Made().Read(client + ".pem");
    ssl.pem_private_key = Made().Read(client + ".key");
  }
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetSslTargetNameOverride(kName);
  return grpc::CreateCustomChannel(absl::StrCat("127.0.0.1:", app.grpc_port()),
                                   grpc::SslCredentials(ssl), arguments);
}

inline std::unique_ptr<v1::RateLimiter::Stub> Connect(
    const ServerApp& app, const std::string& client,
    const std::string& authority) {
  return v1::RateLimiter::NewStub(Connection(app, client, authority));
}

inline Answer AskOn(v1::RateLimiter::Stub& stub) {
  v1::ShouldAllowRequest request;
  request.set_domain("shop");
  v1::Entry& entry = *request.add_descriptors()->add_entries();
  entry.set_key("user");
  entry.set_value("ana");
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() +
                       std::chrono::seconds(30));
  v1::ShouldAllowResponse response;
  Answer answer{stub.ShouldAllow(&context, request, &response), ""};
  if (!answer.status.ok()) return answer;
  for (const auto& pem :
       context.auth_context()->FindPropertyValues("x509_pem_cert")) {
    answer.server_certificate.assign(pem.data(), pem.size());
  }
  return answer;
}

inline Answer Ask(const ServerApp& app, const std::string& client,
                  const std::string& authority = "ca") {
  return AskOn(*Connect(app, client, authority));
}

MATCHER_P(Fails, code, "fails with that code") {
  *result_listener << arg.status.error_code() << ": "
                   << arg.status.error_message();
  return arg.status.error_code() == code;
}

}  // namespace tollgate

#endif  // TOLLGATE_TESTS_APP_TLS_SERVICE_H_
