#include "server/rpc/health_port.h"

#include <atomic>
#include <memory>
#include <string>

#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"
#include "tests/rpc/served.h"

namespace tollgate {
namespace {

using grpc::health::v1::HealthCheckResponse;

// A main port that is said to accept or not.
class SaidToAccept final : public net::Listener {
 public:
  [[nodiscard]] int port() const override { return 0; }
  void Start(TakeFn) override {}
  void StopAccepting() override {}
  [[nodiscard]] bool Accepts(absl::Duration) override { return accepts; }

  std::atomic<bool> accepts{true};
};

// What a check of `service` says, or UNKNOWN if it fails.
HealthCheckResponse::ServingStatus Check(int port, const std::string& service) {
  const auto stub = grpc::health::v1::Health::NewStub(grpc::CreateChannel(
      absl::StrCat("127.0.0.1:", port), grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  SetDeadline(context);
  grpc::health::v1::HealthCheckRequest request;
  request.set_service(service);
  HealthCheckResponse response;
  return stub->Check(&context, request, &response).ok()
             ? response.status()
             : HealthCheckResponse::UNKNOWN;
}

TEST(HealthPort, SaysServingOnlyWhileTheMainPortAccepts) {
  Health health;
  SaidToAccept main_port;
  const SteadyClock clock;
  const auto port = StartHealthPort("127.0.0.1:0", health, main_port, clock);
  ASSERT_TRUE(port.ok()) << port.status();
  const int number = (*port)->port();
  EXPECT_EQ(Check(number, ""), HealthCheckResponse::SERVING);
  main_port.accepts = false;
  EXPECT_EQ(Check(number, ""), HealthCheckResponse::NOT_SERVING);
  EXPECT_EQ(Check(number, "tollgate.v1.RateLimiter"),
            HealthCheckResponse::NOT_SERVING);
  EXPECT_EQ(Check(number, "other"), HealthCheckResponse::UNKNOWN);
  main_port.accepts = true;
  EXPECT_EQ(Check(number, ""), HealthCheckResponse::SERVING);
}

TEST(HealthPort, TellsThoseWhoWatchThatTheServerIsAboutToStop) {
  Health health;
  SaidToAccept main_port;
  const SteadyClock clock;
  auto port = StartHealthPort("127.0.0.1:0", health, main_port, clock);
  ASSERT_TRUE(port.ok()) << port.status();
  const auto stub = grpc::health::v1::Health::NewStub(
      grpc::CreateChannel(absl::StrCat("127.0.0.1:", (*port)->port()),
                          grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  SetDeadline(context);
  const auto watch = stub->Watch(&context, {});
  HealthCheckResponse response;
  ASSERT_TRUE(watch->Read(&response));
  EXPECT_EQ(response.status(), HealthCheckResponse::SERVING);
  health.StopServing();
  (*port)->Announce();
  ASSERT_TRUE(watch->Read(&response));
  EXPECT_EQ(response.status(), HealthCheckResponse::NOT_SERVING);
  port->reset();
  EXPECT_FALSE(watch->Finish().ok());
}

TEST(HealthPort, NamesAnAddressThatItCannotHave) {
  Health health;
  SaidToAccept main_port;
  const SteadyClock clock;
  const auto port = StartHealthPort("192.0.2.1:1", health, main_port, clock);
  EXPECT_EQ(port.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_NE(port.status().ToString().find("192.0.2.1:1"), std::string::npos);
}

}  // namespace
}  // namespace tollgate
