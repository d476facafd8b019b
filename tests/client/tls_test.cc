// TLS and several addresses, against services in this process.
#include "client/tls.h"

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "client/client.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/client/test_service.h"
#include "tests/support/certificates.h"
#include "tests/support/status_matchers.h"

namespace tollgate::client {
namespace {

using ::testing::HasSubstr;

const Request kAna{"shop", {{{"user", "ana"}}}, 1};

// An authority, and what it signed for the service "tollgate.test" and for a
// client.
struct SignedFiles : Certificates {
  SignedFiles() {
    MakeAuthority("ca");
    Make("server", "ca", "DNS:tollgate.test");
    Make("client", "ca", "DNS:tollgate.test");
  }
};

// Made once.
const SignedFiles& Made() {
  static const SignedFiles made;
  return made;
}

// Listens with the server's certificate, and asks clients for one if it must.
std::unique_ptr<grpc::Server> ListenWithTls(TestService& service, bool mutual,
                                            int& port) {
  const SignedFiles& made = Made();
  grpc::SslServerCredentialsOptions options(
      mutual ? GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY
             : GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE);
  options.pem_root_certs = mutual ? made.Read("ca.pem") : "";
  options.pem_key_cert_pairs.push_back(
      {made.Read("server.key"), made.Read("server.pem")});
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:0", grpc::SslServerCredentials(options),
                           &port);
  builder.RegisterService(&service);
  return builder.BuildAndStart();
}

Decision AskWith(int port, const absl::StatusOr<TlsOptions>& tls) {
  EXPECT_THAT(tls.status(), IsOk());
  ClientOptions options;
  options.target = absl::StrCat("127.0.0.1:", port);
  options.timeout = absl::Seconds(10);
  options.outage_policy = OutagePolicy::kRefuse;
  options.tls = *tls;
  const auto client = Client::Create(options);
  EXPECT_THAT(client.status(), IsOk());
  return (*client)->ShouldAllow(kAna);
}

absl::StatusOr<TlsOptions> Trusting(bool with_cert) {
  const SignedFiles& made = Made();
  auto tls = ReadTlsFiles(made.Path("ca.pem"),
                          with_cert ? made.Path("client.pem") : "",
                          with_cert ? made.Path("client.key") : "");
  if (tls.ok()) tls->server_name = "tollgate.test";
  return tls;
}

TEST(Tls, AsksAServiceThatItTrusts) {
  TestService service;
  int port = 0;
  const auto server = ListenWithTls(service, /*mutual=*/false, port);
  EXPECT_EQ(AskWith(port, Trusting(false)).source, Source::kService);
}

TEST(Tls, DoesNotAskAServiceOfAnotherName) {
  TestService service;
  int port = 0;
  const auto server = ListenWithTls(service, /*mutual=*/false, port);
  auto tls = Trusting(false);
  tls->server_name = "other.test";
  EXPECT_EQ(AskWith(port, tls).source, Source::kOutagePolicy);
  tls->server_name = "";  // then the target's host, which it is not either
  EXPECT_EQ(AskWith(port, tls).source, Source::kOutagePolicy);
  EXPECT_EQ(service.calls(), 0);
}

TEST(Tls, AServiceThatWantsACertificateAnswersWhoHasOne) {
  TestService service;
  int port = 0;
  const auto server = ListenWithTls(service, /*mutual=*/true, port);
  EXPECT_EQ(AskWith(port, Trusting(true)).source, Source::kService);
  EXPECT_EQ(AskWith(port, Trusting(false)).source, Source::kOutagePolicy);
  EXPECT_EQ(service.calls(), 1);
}

TEST(Tls, AFileThatCannotBeReadIsNamed) {
  EXPECT_THAT(
      ReadTlsFiles("/nowhere/ca.pem", "", ""),
      StatusIs(absl::StatusCode::kNotFound, HasSubstr("/nowhere/ca.pem")));
}

TEST(Tls, OptionsThatCannotBeAreNamedAndNotShown) {
  const auto refused = [](TlsOptions tls) {
    ClientOptions options;
    options.tls = std::move(tls);
    return Client::Create(options).status();
  };
  const std::string cert = "-----BEGIN CERTIFICATE-----";
  const std::string key = "-----BEGIN PRIVATE KEY-----";
  EXPECT_THAT(refused({.ca = "secret"}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "tls.ca: got no PEM text with "
                       "\"-----BEGIN CERTIFICATE-----\""));
  EXPECT_THAT(refused({.cert = "secret", .key = key}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("tls.cert: got no PEM")));
  EXPECT_THAT(refused({.cert = cert, .key = "secret"}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("tls.key: got no PEM")));
  EXPECT_THAT(refused({.cert = cert}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "tls.key: empty, want the key of tls.cert"));
  EXPECT_THAT(refused({.key = key}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "tls.cert: empty, want the certificate of tls.key"));
}

TEST(LoadBalancing, RoundRobinAsksEveryAddress) {
  TestService first;
  TestService second;
  const auto first_server = first.Listen();
  const auto second_server = second.Listen();
  ClientOptions options;
  options.target = absl::StrCat("ipv4:", first.target(), ",", second.target());
  options.timeout = absl::Seconds(10);
  options.load_balancing = LoadBalancing::kRoundRobin;
  const auto client = *Client::Create(options);
  // The second may be connected to later than the first.
  for (int i = 0; i < 100'000 && (first.calls() == 0 || second.calls() == 0);
       ++i) {
    EXPECT_EQ(client->ShouldAllow(kAna).source, Source::kService);
  }
  const int before = first.calls();
  for (int i = 0; i < 10; ++i) client->ShouldAllow(kAna);
  EXPECT_EQ(first.calls() - before, 5);
}

TEST(LoadBalancing, OneAddressOfSeveralMayBeGone) {
  TestService service;
  const auto server = service.Listen();
  const DeafPort refusing;
  for (const LoadBalancing balancing :
       {LoadBalancing::kPickFirst, LoadBalancing::kRoundRobin}) {
    ClientOptions options;
    options.target =
        absl::StrCat("ipv4:", refusing.target(), ",", service.target());
    options.timeout = absl::Seconds(10);
    options.load_balancing = balancing;
    const auto client = *Client::Create(options);
    for (int i = 0; i < 10; ++i) {
      EXPECT_EQ(client->ShouldAllow(kAna).source, Source::kService);
    }
  }
}

}  // namespace
}  // namespace tollgate::client
