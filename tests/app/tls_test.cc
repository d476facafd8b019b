// The whole service over TLS, with certificates that the test makes.
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"
#include "server/app/server_app.h"
#include "tests/app/mounted_secret.h"
#include "tests/app/tls_service.h"
#include "tests/client/cli/run_tollgate.h"
#include "tests/support/certificates.h"
#include "tests/support/status_matchers.h"
#include "tests/support/tcp_client.h"
#include "tests/support/temp_files.h"
#include "tollgate/v1/rate_limiter.grpc.pb.h"

namespace tollgate {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Tls, AnswersWhoTrustsItsAuthorityAndNobodyInPlainText) {
  const TempFiles files;
  const auto app = StartServerApp(TlsOptions(files));
  ASSERT_THAT(app, IsOk());
  EXPECT_THAT(Ask(**app, ""), Fails(grpc::StatusCode::OK));
  EXPECT_THAT(Ask(**app, "", "other"), Fails(grpc::StatusCode::UNAVAILABLE));
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() +
                       std::chrono::seconds(30));
  v1::ShouldAllowResponse response;
  const auto plain = v1::RateLimiter::NewStub(
      grpc::CreateChannel(absl::StrCat("127.0.0.1:", (*app)->grpc_port()),
                          grpc::InsecureChannelCredentials()));
  EXPECT_EQ(plain->ShouldAllow(&context, {}, &response).error_code(),
            grpc::StatusCode::UNAVAILABLE);
}

TEST(Tls, WithAnAuthorityOfClientsAnswersNobodyElse) {
  const TempFiles files;
  const auto app = StartServerApp(MutualTlsOptions(files));
  ASSERT_THAT(app, IsOk());
  EXPECT_THAT(Ask(**app, "client"), Fails(grpc::StatusCode::OK));
  EXPECT_THAT(Ask(**app, ""), Fails(grpc::StatusCode::UNAVAILABLE));
  EXPECT_THAT(Ask(**app, "stranger"), Fails(grpc::StatusCode::UNAVAILABLE));
}

TEST(Tls, TheCommandAsksWithItsCertificate) {
  const TempFiles files;
  const auto app = StartServerApp(MutualTlsOptions(files));
  ASSERT_THAT(app, IsOk());
  const std::string server =
      absl::StrCat("--server=127.0.0.1:", (*app)->grpc_port());
  const std::string ca = "--tls-ca=" + Made().Path("ca.pem");
  const std::string cert = "--tls-cert=" + Made().Path("client.pem");
  const std::string key = "--tls-key=" + Made().Path("client.key");
  const std::string name = absl::StrCat("--tls-server-name=", kName);
  const auto run = [&](std::vector<std::string> flags) {
    flags.insert(flags.end(), {server, "--timeout=30s"});
    return cli::RunTollgate(flags);
  };
  const cli::Ran check =
      run({"check", "--domain=shop", "user=ana", ca, cert, key, name});
  EXPECT_EQ(check.exit_status, 0) << check.err;
  const cli::Ran rules = run({"rules", ca, cert, key, name});
  EXPECT_EQ(rules.exit_status, 0) << rules.err;
  EXPECT_THAT(rules.out, HasSubstr("per-user"));
  EXPECT_EQ(run({"rules", ca, name}).exit_status, 2);
  EXPECT_EQ(run({"rules"}).exit_status, 2);
  EXPECT_THAT(run({"check", "user=ana", ca, cert}).err,
              HasSubstr("--tls-key: missing, want the key of --tls-cert"));
  EXPECT_THAT(run({"rules", "--tls-ca=/nowhere/ca.crt"}).err,
              HasSubstr("/nowhere/ca.crt"));
}

grpc::Status CheckHealth(int port,
                         grpc::health::v1::HealthCheckResponse& response) {
  const auto stub = grpc::health::v1::Health::NewStub(grpc::CreateChannel(
      absl::StrCat("127.0.0.1:", port), grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() +
                       std::chrono::seconds(30));
  return stub->Check(&context, {}, &response);
}

TEST(Tls, ProbesFindHealthAloneInPlainText) {
  using grpc::health::v1::HealthCheckResponse;
  const TempFiles files;
  ServerOptions options = MutualTlsOptions(files);
  options.health_listen = "127.0.0.1:0";
  const auto app = StartServerApp(options);
  ASSERT_THAT(app, IsOk());
  const int port = (*app)->health_port();
  HealthCheckResponse response;
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(CheckHealth(port, response).ok());
    EXPECT_EQ(response.status(), HealthCheckResponse::SERVING);
  }
  const auto limiter = v1::RateLimiter::NewStub(grpc::CreateChannel(
      absl::StrCat("127.0.0.1:", port), grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  v1::ShouldAllowResponse answer;
  EXPECT_EQ(limiter->ShouldAllow(&context, {}, &answer).error_code(),
            grpc::StatusCode::UNIMPLEMENTED);
  (*app)->AnnounceShutdown();
  ASSERT_TRUE(CheckHealth(port, response).ok());
  EXPECT_EQ(response.status(), HealthCheckResponse::NOT_SERVING);
  (*app)->Drain();
  EXPECT_EQ(CheckHealth(port, response).error_code(),
            grpc::StatusCode::UNAVAILABLE);
}

TEST(Tls, TheGuardLetsHandshakesAndCallsPass) {
  const TempFiles files;
  const auto app = StartServerApp(MutualTlsOptions(files));
  ASSERT_THAT(app, IsOk());
  for (int i = 0; i < 50; ++i) {
    ASSERT_THAT(Ask(**app, "client"), Fails(grpc::StatusCode::OK));
  }
  EXPECT_THAT(
      AskHttp((*app)->http_port(), "GET", "/metrics"),
      AllOf(
          HasSubstr("tollgate_connections_killed_total{reason=\"flood\"} 0\n"),
          HasSubstr(
              "tollgate_connections_killed_total{reason=\"slow_reader\"} 0\n"),
          HasSubstr(
              "tollgate_connections_refused_total{reason=\"flood\"} 0\n")));
}

// Threads that ask without a pause: some on a new connection each time, some on
// one that they keep.
class Callers {
 public:
  explicit Callers(const ServerApp& app) {
    for (int i = 0; i < 3; ++i) {
      threads_.emplace_back([this, &app] {
        while (!stop_) Count(Ask(app, "client"));
      });
    }
    for (int i = 0; i < 2; ++i) {
      threads_.emplace_back([this, &app] {
        const auto stub = Connect(app, "client", "ca");
        while (!stop_) Count(AskOn(*stub));
      });
    }
  }
  ~Callers() { Stop(); }

  void Stop() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }
  [[nodiscard]] int calls() const { return calls_; }
  [[nodiscard]] int failed() const { return failed_; }
  // After Stop.
  [[nodiscard]] const std::string& first_error() const { return first_error_; }

 private:
  void Count(const Answer& answer) {
    if (!answer.status.ok() && failed_++ == 0) {
      first_error_ = answer.status.error_message();
    }
    ++calls_;
  }

  std::atomic<bool> stop_{false};
  std::atomic<int> calls_{0};
  std::atomic<int> failed_{0};
  std::string first_error_;  // of whoever failed first, until it is joined
  std::vector<std::thread> threads_;
};

TEST(Tls, RotatedFilesAreServedWithoutOneFailedCall) {
  const TempFiles files;
  MountedSecret secret(Made());
  ServerOptions options = MutualTlsOptions(files);
  options.tls_cert = secret.Path("tls.crt");
  options.tls_key = secret.Path("tls.key");
  options.tls_client_ca = secret.Path("ca.crt");
  const auto app = StartServerApp(options);
  ASSERT_THAT(app, IsOk());
  const std::string old_certificate = Ask(**app, "client").server_certificate;
  EXPECT_THAT(old_certificate, HasSubstr("BEGIN CERTIFICATE"));
  Callers callers(**app);
  secret.Mount("newer");
  const auto deadline =
      std::chrono::steady_clock::now() + std::chrono::seconds(30);
  Answer answer;
  do {
    answer = Ask(**app, "client");
    ASSERT_THAT(answer, Fails(grpc::StatusCode::OK));
  } while (answer.server_certificate == old_certificate &&
           std::chrono::steady_clock::now() < deadline);
  for (int i = 0; i < 10; ++i) {
    answer = Ask(**app, "client");
    ASSERT_THAT(answer, Fails(grpc::StatusCode::OK));
    EXPECT_NE(answer.server_certificate, old_certificate);
  }
  callers.Stop();
  EXPECT_GT(callers.calls(), 0);
  EXPECT_EQ(callers.failed(), 0) << callers.first_error();
}

TEST(Tls, FilesThatCannotBeAreNamedAtTheStart) {
  const TempFiles files;
  const auto refused = [](const ServerOptions& options) {
    return StartServerApp(options).status();
  };
  ServerOptions options = MutualTlsOptions(files);
  options.tls_cert = "/nowhere/tls.crt";
  EXPECT_THAT(refused(options),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "--tls-cert: got \"/nowhere/tls.crt\", want a file that "
                       "can be read: No such file or directory"));
  options.tls_cert = files.Write("text", "secret");
  EXPECT_THAT(refused(options), StatusIs(absl::StatusCode::kInvalidArgument,
                                         AllOf(HasSubstr("--tls-cert: got \""),
                                               HasSubstr("/text\", want PEM"),
                                               Not(HasSubstr("secret")))));
  options = MutualTlsOptions(files);
  options.tls_key = files.Path("text");
  EXPECT_THAT(refused(options),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("--tls-key: got \""),
                             HasSubstr("/text\", want PEM: a private key"))));
  options.tls_key = Made().Path("newer.key");
  EXPECT_THAT(refused(options),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("--tls-key: got \""),
                             HasSubstr("newer.key\", want the key of the "
                                       "certificate in "),
                             HasSubstr("server.pem"))));
  options = MutualTlsOptions(files);
  options.tls_client_ca = files.Path("text");
  EXPECT_THAT(refused(options),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("--tls-client-ca: got \""),
                             HasSubstr("/text\", want PEM"))));
  options.tls_client_ca = "/nowhere/ca.crt";
  EXPECT_THAT(refused(options),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("--tls-client-ca: got \"/nowhere/ca.crt\"")));
}

}  // namespace
}  // namespace tollgate
