// Envoy's service over real connections: what envoy_handler answers, and what
// only the wire shows.

#include <string>
#include <vector>

#include "envoy/service/ratelimit/v3/rls.grpc.pb.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/rpc/served.h"

namespace tollgate {
namespace {

using ::testing::HasSubstr;
using RlsRequest = envoy::service::ratelimit::v3::RateLimitRequest;
using RlsResponse = envoy::service::ratelimit::v3::RateLimitResponse;
using envoy::service::ratelimit::v3::RateLimitService;

constexpr char kMethod[] =
    "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit";

RlsRequest OfUser(const std::string& user) {
  RlsRequest request;
  request.set_domain("shop");
  auto& entry = *request.add_descriptors()->add_entries();
  entry.set_key("user");
  entry.set_value(user);
  return request;
}

grpc::Status AskGateway(const Served& served, const RlsRequest& request,
                        RlsResponse& response) {
  grpc::ClientContext context;
  SetDeadline(context);
  return RateLimitService::NewStub(served.channel)
      ->ShouldRateLimit(&context, request, &response);
}

TEST(Gateway, AnswersOnThePortOfTheService) {
  Served served(/*tokens=*/2);
  for (const int remaining : {1, 0}) {
    RlsResponse response;
    const grpc::Status status = AskGateway(served, OfUser("ana"), response);
    ASSERT_TRUE(status.ok()) << status.error_message();
    EXPECT_EQ(response.overall_code(), RlsResponse::OK);
    ASSERT_EQ(response.statuses_size(), 1);
    EXPECT_EQ(response.statuses(0).limit_remaining(), remaining);
    EXPECT_EQ(response.statuses(0).current_limit().name(), "per-user");
  }
  RlsResponse response;
  ASSERT_TRUE(AskGateway(served, OfUser("ana"), response).ok());
  EXPECT_EQ(response.overall_code(), RlsResponse::OVER_LIMIT);
  EXPECT_EQ(response.response_headers_to_add_size(), 0);
  // Both services ask the same buckets.
  EXPECT_EQ(served.Ask(UserRequest("ana")).outcome(), v1::REFUSED);
}

TEST(Gateway, TellsTheHeadersOfItsProfile) {
  RpcServerOptions options;
  options.gateway.headers = HeaderProfile::kLegacy;
  Served served(/*tokens=*/1, options);
  RlsResponse response;
  ASSERT_TRUE(AskGateway(served, OfUser("ana"), response).ok());
  response.Clear();
  ASSERT_TRUE(AskGateway(served, OfUser("ana"), response).ok());
  ASSERT_EQ(response.response_headers_to_add_size(), 4);
  EXPECT_EQ(response.response_headers_to_add(3).key(), "Retry-After");
  EXPECT_EQ(response.response_headers_to_add(3).value(), "1");
}

TEST(Gateway, RefusesBadRequestsWithAReasonAndCountsThem) {
  Served served;
  RlsResponse response;
  RlsRequest request = OfUser("ana");
  request.clear_domain();
  grpc::Status status = AskGateway(served, request, response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(status.error_message(), "rate limit domain must not be empty");
  request = OfUser("ana");
  request.clear_descriptors();
  status = AskGateway(served, request, response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(status.error_message(),
            "rate limit descriptor list must not be empty");
  EXPECT_EQ(served.observer.invalid, 2);
}

TEST(Gateway, IsUnavailableUntilThereAreRules) {
  Served served;
  ASSERT_TRUE(served.limiter.SetRules(RuleSet()).ok());
  RlsResponse response;
  const grpc::Status status = AskGateway(served, OfUser("ana"), response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(status.error_message(), "no rate limit configuration loaded");
}

TEST(Gateway, SurvivesBytesThatAreNoMessage) {
  Served served;
  const std::vector<std::string> hostile = {
      "\xFF",
      "\x0A\xFF\xFF\xFF\xFF\x0F",                      // a domain without end
      "\x0A\x01\xFF\x12\x06\x0A\x04\x0A\x02\xC3\x28",  // no UTF-8
      "\x12\x02\x12\x00",                              // an empty override
      std::string(60'000, '\x12'),                     // nests
      std::string(70'000, 'x'),                        // above the bound
  };
  for (const std::string& bytes : hostile) {
    EXPECT_FALSE(served.AskRaw(kMethod, bytes).ok());
  }
  RlsResponse response;
  EXPECT_TRUE(AskGateway(served, OfUser("ana"), response).ok());
}

TEST(Gateway, IgnoresFieldsOfLaterProtocols) {
  Served served;
  std::string answer;
  const grpc::Status status = served.AskRaw(kMethod,
                                            OfUser("ana").SerializeAsString() +
                                                "\xFA\x7F\x03"
                                                "new",
                                            &answer);
  ASSERT_TRUE(status.ok()) << status.error_message();
  RlsResponse response;
  ASSERT_TRUE(response.ParseFromString(answer));
  EXPECT_EQ(response.overall_code(), RlsResponse::OK);
}

}  // namespace
}  // namespace tollgate
