// A real gRPC service that asks before each call, over real connections.
#include "client/grpc/service_limiter.h"

#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/grpc/call_entries.h"
#include "gmock/gmock.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"
#include "server/base/mutex.h"
#include "tests/client/test_service.h"
#include "tollgate/v1/status_details.pb.h"

namespace tollgate::client {
namespace {

using grpc::health::v1::Health;
using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;

class BlockingHealth final : public Health::Service {
 public:
  explicit BlockingHealth(ServiceLimiter& limiter) : limiter_(limiter) {}
  grpc::Status Check(grpc::ServerContext* context,
                     const HealthCheckRequest* /*request*/,
                     HealthCheckResponse* response) override {
    const Admission admission = limiter_.Admit(*context, "Check");
    if (!admission.ok()) return admission.status();
    response->set_status(HealthCheckResponse::SERVING);
    return grpc::Status::OK;
  }

 private:
  ServiceLimiter& limiter_;
};

class CallbackHealth final : public Health::CallbackService {
 public:
  explicit CallbackHealth(ServiceLimiter& limiter) : limiter_(limiter) {}
  grpc::ServerUnaryReactor* Check(grpc::CallbackServerContext* context,
                                  const HealthCheckRequest* /*request*/,
                                  HealthCheckResponse* response) override {
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    limiter_.AdmitAsync(*context, "Check",
                        [reactor, response](const Admission& admission) {
                          response->set_status(HealthCheckResponse::SERVING);
                          reactor->Finish(admission.status());
                        });
    return reactor;
  }

 private:
  ServiceLimiter& limiter_;
};

// A limited service, and the Tollgate that it asks.
template <typename Limited>
class Fixture {
 public:
  explicit Fixture(TestService::Decide decide,
                   OutagePolicy outage_policy = OutagePolicy::kBackstop)
      : tollgate_(std::move(decide)) {
    tollgate_.on_release = [this](const v1::ReleaseRequest& request) {
      MutexLock lock(mutex_);
      released_ = request.ticket();
      return grpc::Status::OK;
    };
    tollgate_server_ = tollgate_.Listen();
    ClientOptions options;
    options.target = tollgate_.target();
    options.timeout = absl::Seconds(10);
    options.outage_policy = outage_policy;
    client_ = *Client::Create(options);
    ServiceLimiterOptions limits;
    limits.domain = "shop";
    limits.metadata = {{"x-api-key", "api_key"}, {"x-absent", "absent"}};
    limiter_.emplace(*client_, limits);
    limited_.emplace(*limiter_);
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(),
                             &port);
    builder.RegisterService(&*limited_);
    server_ = builder.BuildAndStart();
    stub_ = Health::NewStub(grpc::CreateChannel(
        absl::StrCat("127.0.0.1:", port), grpc::InsecureChannelCredentials()));
  }
  ~Fixture() { server_->Shutdown(); }

  grpc::Status Call(grpc::ClientContext& context) {
    HealthCheckResponse response;
    return stub_->Check(&context, {}, &response);
  }
  void StopTollgate() {
    tollgate_server_->Shutdown(std::chrono::system_clock::now());
  }
  std::string released() {
    MutexLock lock(mutex_);
    return released_;
  }
  TestService& tollgate() { return tollgate_; }

 private:
  TestService tollgate_;
  Mutex mutex_;
  std::string released_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<grpc::Server> tollgate_server_;
  std::unique_ptr<Client> client_;
  std::optional<ServiceLimiter> limiter_;
  std::optional<Limited> limited_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<Health::Stub> stub_;
};

grpc::Status RefuseFor1500Ms(const v1::ShouldAllowRequest& /*request*/,
                             v1::ShouldAllowResponse& response) {
  response.set_outcome(v1::REFUSED);
  response.mutable_retry_after()->set_seconds(1);
  response.mutable_retry_after()->set_nanos(499'000'001);
  return grpc::Status::OK;
}

template <typename Limited>
class ServiceLimiterTest : public testing::Test {};
// What the callback API's headers put into this binary is ordered inside the
// packaged library, which the race detector does not see into.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TOLLGATE_WATCHED_FOR_RACES
#endif
#endif
#ifdef TOLLGATE_WATCHED_FOR_RACES
using Apis = testing::Types<BlockingHealth>;
#else
using Apis = testing::Types<BlockingHealth, CallbackHealth>;
#endif
TYPED_TEST_SUITE(ServiceLimiterTest, Apis);

TYPED_TEST(ServiceLimiterTest, DescribesTheCallAndLetsItPassIfAllowed) {
  std::promise<v1::ShouldAllowRequest> request;
  Fixture<TypeParam> test([&](const v1::ShouldAllowRequest& got, auto&) {
    request.set_value(got);
    return grpc::Status::OK;
  });
  grpc::ClientContext context;
  context.AddMetadata("x-api-key", "50%");
  EXPECT_TRUE(test.Call(context).ok());
  const v1::ShouldAllowRequest asked = request.get_future().get();
  EXPECT_EQ(asked.domain(), "shop");
  EXPECT_EQ(asked.cost(), 1);
  ASSERT_EQ(asked.descriptors_size(), 1);
  const v1::Descriptor& descriptor = asked.descriptors(0);
  ASSERT_EQ(descriptor.entries_size(), 3);
  EXPECT_EQ(descriptor.entries(0).key(), "method");
  EXPECT_EQ(descriptor.entries(0).value(), "Check");
  EXPECT_EQ(descriptor.entries(1).key(), "ip");
  EXPECT_EQ(descriptor.entries(1).value(), "127.0.0.1");
  EXPECT_EQ(descriptor.entries(2).key(), "api_key");
  EXPECT_EQ(descriptor.entries(2).value(), "50%25");
}

TYPED_TEST(ServiceLimiterTest, ARefusalHasRetryInfoAndPushback) {
  Fixture<TypeParam> test(RefuseFor1500Ms);
  grpc::ClientContext context;
  const grpc::Status status = test.Call(context);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  v1::RpcStatus details;
  ASSERT_TRUE(details.ParseFromString(status.error_details()));
  EXPECT_EQ(details.code(), 8);
  EXPECT_EQ(details.message(), status.error_message());
  ASSERT_EQ(details.details_size(), 1);
  EXPECT_EQ(details.details(0).type_url(),
            "type.googleapis.com/google.rpc.RetryInfo");
  v1::RpcRetryInfo retry;
  ASSERT_TRUE(retry.ParseFromString(details.details(0).value()));
  EXPECT_EQ(retry.retry_delay().seconds(), 1);
  EXPECT_EQ(retry.retry_delay().nanos(), 499'000'001);
  const auto& trailers = context.GetServerTrailingMetadata();
  const auto pushback = trailers.find("grpc-retry-pushback-ms");
  ASSERT_NE(pushback, trailers.end());
  EXPECT_EQ(pushback->second, "1500");
}

TYPED_TEST(ServiceLimiterTest, TheImpossibleIsNotToBeTriedAgain) {
  Fixture<TypeParam> test([](const auto&, v1::ShouldAllowResponse& response) {
    response.set_outcome(v1::IMPOSSIBLE);
    return grpc::Status::OK;
  });
  grpc::ClientContext context;
  const grpc::Status status = test.Call(context);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  v1::RpcStatus details;
  ASSERT_TRUE(details.ParseFromString(status.error_details()));
  EXPECT_EQ(details.details_size(), 0);
  const auto& trailers = context.GetServerTrailingMetadata();
  EXPECT_EQ(trailers.find("grpc-retry-pushback-ms")->second, "-1");
}

TYPED_TEST(ServiceLimiterTest, GivesTheSlotsBackWhenTheCallEnds) {
  Fixture<TypeParam> test([](const auto&, v1::ShouldAllowResponse& response) {
    response.set_outcome(v1::ALLOWED);
    response.set_ticket("slots");
    return grpc::Status::OK;
  });
  grpc::ClientContext context;
  EXPECT_TRUE(test.Call(context).ok());
  for (int i = 0; i < 10'000'000 && test.released().empty(); ++i) {
    std::this_thread::yield();
  }
  EXPECT_EQ(test.released(), "slots");
}

TYPED_TEST(ServiceLimiterTest, TheOutagePolicyDecidesWhileTollgateIsDown) {
  Fixture<TypeParam> allows(nullptr, OutagePolicy::kAllow);
  allows.StopTollgate();
  grpc::ClientContext first;
  EXPECT_TRUE(allows.Call(first).ok());

  Fixture<TypeParam> refuses(nullptr, OutagePolicy::kRefuse);
  refuses.StopTollgate();
  grpc::ClientContext second;
  EXPECT_EQ(refuses.Call(second).error_code(),
            grpc::StatusCode::RESOURCE_EXHAUSTED);
}

TEST(PeerAddress, IsTheAddressWithoutPortAndZone) {
  EXPECT_EQ(PeerAddress("ipv4:192.0.2.1:5000"), "192.0.2.1");
  EXPECT_EQ(PeerAddress("ipv6:%5B2001:db8::1%5D:5000"), "2001:db8::1");
  EXPECT_EQ(PeerAddress("ipv6:%5b::1%5d:5000"), "::1");
  EXPECT_EQ(PeerAddress("ipv6:[2001:db8::1]:5000"), "2001:db8::1");
  EXPECT_EQ(PeerAddress("ipv6:%5Bfe80::1%25eth0%5D:5000"), "fe80::1");
}

TEST(PeerAddress, IsNothingForWhatHasNone) {
  for (const char* peer : {"", "unix:/run/a.sock", "unix-abstract:a", "unknown",
                           "ipv6:", "ipv6:::1", "ipv6:[::1", "inproc:1"}) {
    EXPECT_EQ(PeerAddress(peer), std::nullopt) << peer;
  }
}

}  // namespace
}  // namespace tollgate::client
