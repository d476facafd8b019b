#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "grpc/health/v1/health.grpc.pb.h"
#include "gtest/gtest.h"
#include "tests/rpc/served.h"

namespace tollgate {
namespace {

using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;
using HealthStub = grpc::health::v1::Health;

HealthCheckRequest Of(const std::string& service) {
  HealthCheckRequest request;
  request.set_service(service);
  return request;
}

// A stream of statuses.
struct Watched {
  explicit Watched(const Served& served, const std::string& service = "")
      : stub(HealthStub::NewStub(served.channel)) {
    SetDeadline(context);
    reader = stub->Watch(&context, Of(service));
  }
  // The next status, or UNKNOWN if the stream has ended.
  HealthCheckResponse::ServingStatus Next() {
    HealthCheckResponse response;
    return reader->Read(&response) ? response.status()
                                   : HealthCheckResponse::UNKNOWN;
  }

  std::unique_ptr<HealthStub::Stub> stub;
  grpc::ClientContext context;
  std::unique_ptr<grpc::ClientReader<HealthCheckResponse>> reader;
};

TEST(Health, ChecksOneAfterAnother) {
  const Served served;
  const auto stub = HealthStub::NewStub(served.channel);
  for (int i = 0; i < 100; ++i) {
    grpc::ClientContext context;
    SetDeadline(context);
    HealthCheckResponse response;
    ASSERT_TRUE(stub->Check(&context, Of(""), &response).ok());
    EXPECT_EQ(response.status(), HealthCheckResponse::SERVING);
  }
}

TEST(Health, KnowsEachServiceByItsName) {
  const Served served;
  const auto stub = HealthStub::NewStub(served.channel);
  for (const char* service :
       {"tollgate.v1.RateLimiter", "tollgate.v1.Admin",
        "envoy.service.ratelimit.v3.RateLimitService", "ratelimit"}) {
    grpc::ClientContext context;
    SetDeadline(context);
    HealthCheckResponse response;
    ASSERT_TRUE(stub->Check(&context, Of(service), &response).ok()) << service;
    EXPECT_EQ(response.status(), HealthCheckResponse::SERVING) << service;
  }
}

TEST(Health, IsNoCallOfTheRateLimiter) {
  const Served served;
  const auto stub = HealthStub::NewStub(served.channel);
  grpc::ClientContext context;
  SetDeadline(context);
  HealthCheckResponse response;
  ASSERT_TRUE(stub->Check(&context, Of(""), &response).ok());
  EXPECT_EQ(served.observer.arrivals, 0);
}

TEST(Health, ServesOnceTheServerIsReadyAndNotWhileItIsNot) {
  std::atomic<bool> ready{false};
  RpcServerOptions options;
  options.is_ready = [&ready] { return ready.load(); };
  options.policy_interval = absl::Milliseconds(1);
  const Served served(2, options);
  Watched server(served);
  EXPECT_EQ(server.Next(), HealthCheckResponse::NOT_SERVING);
  ready = true;
  EXPECT_EQ(server.Next(), HealthCheckResponse::SERVING);
  ready = false;
  EXPECT_EQ(server.Next(), HealthCheckResponse::NOT_SERVING);
  EXPECT_EQ(served.Ask(UserRequest("ana")).outcome(), v1::ALLOWED);
  served.server->AnnounceShutdown();
  EXPECT_EQ(server.Next(), HealthCheckResponse::UNKNOWN);  // it has ended
}

TEST(Health, TellsThoseWhoWatchThatTheServerIsAboutToStop) {
  const Served served;
  Watched server(served);
  Watched service(served, "tollgate.v1.RateLimiter");
  Watched other(served, "other");
  EXPECT_EQ(server.Next(), HealthCheckResponse::SERVING);
  EXPECT_EQ(service.Next(), HealthCheckResponse::SERVING);
  EXPECT_EQ(other.Next(), HealthCheckResponse::SERVICE_UNKNOWN);
  served.server->AnnounceShutdown();
  EXPECT_EQ(server.Next(), HealthCheckResponse::NOT_SERVING);
  EXPECT_EQ(service.Next(), HealthCheckResponse::NOT_SERVING);
  for (Watched* watched : {&server, &service, &other}) {
    EXPECT_EQ(watched->Next(), HealthCheckResponse::UNKNOWN);
    EXPECT_EQ(watched->reader->Finish().error_code(),
              grpc::StatusCode::UNAVAILABLE);
  }
}

TEST(Health, TellsThoseWhoComeLaterAtOnce) {
  const Served served;
  served.server->AnnounceShutdown();
  Watched late(served);
  EXPECT_EQ(late.Next(), HealthCheckResponse::NOT_SERVING);
  EXPECT_EQ(late.Next(), HealthCheckResponse::UNKNOWN);
}

TEST(Health, TakesPeersThatLeave) {
  const Served served;
  for (int i = 0; i < 200; ++i) {
    Watched watched(served);
    if (i % 2 == 0) {
      EXPECT_EQ(watched.Next(), HealthCheckResponse::SERVING);
    }
    watched.context.TryCancel();
    EXPECT_EQ(watched.reader->Finish().error_code(),
              grpc::StatusCode::CANCELLED);
  }
  Watched last(served);
  EXPECT_EQ(last.Next(), HealthCheckResponse::SERVING);
}

TEST(Health, LetsADrainEndAlthoughSomebodyWatches) {
  const Served served;
  Watched watched(served);
  EXPECT_EQ(watched.Next(), HealthCheckResponse::SERVING);
  std::thread draining([&] { served.server->Drain(absl::Hours(1)); });
  while (watched.Next() != HealthCheckResponse::UNKNOWN) {
  }
  draining.join();
  EXPECT_EQ(watched.reader->Finish().error_code(),
            grpc::StatusCode::UNAVAILABLE);
}

TEST(Health, IsCutOffWithAServerThatStopsAtOnce) {
  auto served = std::make_unique<Served>();
  Watched watched(*served);
  EXPECT_EQ(watched.Next(), HealthCheckResponse::SERVING);
  served->server->Drain(absl::ZeroDuration());
  while (watched.Next() != HealthCheckResponse::UNKNOWN) {
  }
  EXPECT_FALSE(watched.reader->Finish().ok());
}

}  // namespace
}  // namespace tollgate
