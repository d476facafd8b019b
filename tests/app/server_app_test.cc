#include "server/app/server_app.h"

#include <chrono>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"
#include "tests/app/two_rules.h"
#include "tests/support/status_matchers.h"
#include "tests/support/tcp_client.h"
#include "tests/support/temp_files.h"
#include "tollgate/v1/rate_limiter.grpc.pb.h"

namespace tollgate {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

ServerOptions LocalOptions(const std::string& rules) {
  ServerOptions options;
  options.rules = rules;
  options.listen = "127.0.0.1:0";
  options.http_listen = "127.0.0.1:0";
  return options;
}

v1::ShouldAllowResponse Ask(const ServerApp& app, const std::string& user) {
  const auto stub = v1::RateLimiter::NewStub(
      grpc::CreateChannel(absl::StrCat("127.0.0.1:", app.grpc_port()),
                          grpc::InsecureChannelCredentials()));
  v1::ShouldAllowRequest request;
  request.set_domain("shop");
  v1::Entry& entry = *request.add_descriptors()->add_entries();
  entry.set_key("user");
  entry.set_value(user);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() +
                       std::chrono::seconds(20));
  v1::ShouldAllowResponse response;
  const grpc::Status status = stub->ShouldAllow(&context, request, &response);
  EXPECT_TRUE(status.ok()) << status.error_message();
  return response;
}

TEST(ServerApp, DecidesByTheRuleFileAndCountsIt) {
  const TempFiles files;
  const auto app =
      StartServerApp(LocalOptions(files.Write("rules.yaml", kTwoRules)));
  ASSERT_TRUE(app.ok()) << app.status();
  EXPECT_EQ(Ask(**app, "ana").outcome(), v1::ALLOWED);
  EXPECT_EQ(Ask(**app, "ana").outcome(), v1::ALLOWED);
  EXPECT_EQ(Ask(**app, "ana").outcome(), v1::REFUSED);
  EXPECT_EQ(Ask(**app, "bob").outcome(), v1::ALLOWED);
  EXPECT_THAT(
      AskHttp((*app)->http_port(), "GET", "/metrics"),
      AllOf(StartsWith("HTTP/1.1 200 "),
            HasSubstr("tollgate_decisions_total{domain=\"shop\",rule=\"per-"
                      "user\",outcome=\"allowed\"} 3\n"),
            HasSubstr("tollgate_decisions_total{domain=\"shop\",rule=\"per-"
                      "user\",outcome=\"refused\"} 1\n"),
            HasSubstr("tollgate_buckets 2\n"),
            HasSubstr("tollgate_rules_info{hash=\""),
            HasSubstr("tollgate_build_info{version=\"")));
}

TEST(ServerApp, ShowsHowItDoesToPeopleUnlessToldNotTo) {
  const TempFiles files;
  ServerOptions options = LocalOptions(files.Write("rules.yaml", kTwoRules));
  auto app = StartServerApp(options);
  ASSERT_TRUE(app.ok()) << app.status();
  const int http = (*app)->http_port();
  EXPECT_THAT(AskHttp(http, "GET", "/"),
              AllOf(StartsWith("HTTP/1.1 200 "), HasSubstr("<!DOCTYPE html>")));
  for (int i = 0; i < 3; ++i) {
    AskHttp(http, "GET", "/check?.domain=shop&user=%3Cb%3E");
  }
  EXPECT_THAT(AskHttp(http, "GET", "/status.json"),
              AllOf(StartsWith("HTTP/1.1 200 "), HasSubstr("\"ready\":true"),
                    HasSubstr("\"key\":\"user=<b>\""),
                    HasSubstr("\"refused\":1,\"rule\":\"per-user\"")));
  (*app)->AnnounceShutdown();
  EXPECT_THAT(AskHttp(http, "GET", "/status.json"),
              HasSubstr("\"ready\":false,\"reason\":\"draining"));
  options.status_page = false;
  app = StartServerApp(options);
  ASSERT_TRUE(app.ok()) << app.status();
  for (const char* path : {"/", "/status.json", "/status.js"}) {
    EXPECT_THAT(AskHttp((*app)->http_port(), "GET", path),
                AllOf(StartsWith("HTTP/1.1 404 "), HasSubstr("/readyz")))
        << path;
  }
}

constexpr char kAna[] =
    R"({"domain":"shop","descriptors":[{"entries":[{"key":"user","value":"ana"}]}]})";

TEST(ServerApp, AnswersGatewaysWithoutGrpc) {
  const TempFiles files;
  const auto app =
      StartServerApp(LocalOptions(files.Write("rules.yaml", kTwoRules)));
  ASSERT_TRUE(app.ok()) << app.status();
  const int http = (*app)->http_port();
  EXPECT_THAT(AskHttp(http, "GET", "/check?.domain=shop&user=ana"),
              AllOf(StartsWith("HTTP/1.1 200 "),
                    HasSubstr("RateLimit-Policy: \"per-user\";q=2;w=")));
  EXPECT_THAT(AskHttp(http, "POST", "/json", kAna),
              AllOf(StartsWith("HTTP/1.1 200 "),
                    HasSubstr("Content-Type: application/json\r\n"),
                    HasSubstr(R"({"overallCode":"OK","statuses":[{)")));
  EXPECT_THAT(AskHttp(http, "POST", "/json", kAna),
              AllOf(StartsWith("HTTP/1.1 429 "),
                    HasSubstr(R"({"overallCode":"OVER_LIMIT",)")));
  EXPECT_THAT(AskHttp(http, "GET", "/check?.domain=shop&user=ana"),
              AllOf(StartsWith("HTTP/1.1 429 "), HasSubstr("Retry-After: ")));
  EXPECT_THAT(AskHttp(http, "POST", "/json", "{"),
              AllOf(StartsWith("HTTP/1.1 400 "), HasSubstr("JSON")));
  EXPECT_THAT(AskHttp(http, "GET", "/check?user=ana"),
              AllOf(StartsWith("HTTP/1.1 400 "), HasSubstr(".domain")));
  EXPECT_THAT(AskHttp(http, "GET", "/metrics"),
              AllOf(HasSubstr("tollgate_request_duration_seconds_count 6\n"),
                    HasSubstr("tollgate_invalid_requests_total 2\n")));
}

TEST(ServerApp, DecidesNothingOverHttpWhenToldSo) {
  const TempFiles files;
  ServerOptions options = LocalOptions(files.Write("rules.yaml", kTwoRules));
  options.http_check = false;
  const auto app = StartServerApp(options);
  ASSERT_TRUE(app.ok()) << app.status();
  const int http = (*app)->http_port();
  EXPECT_THAT(AskHttp(http, "POST", "/json", kAna),
              StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(AskHttp(http, "GET", "/check?.domain=shop&user=ana"),
              StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(AskHttp(http, "GET", "/metrics"),
              AllOf(StartsWith("HTTP/1.1 200 "),
                    HasSubstr("tollgate_request_duration_seconds_count 0\n")));
}

TEST(ServerApp, TellsGatewaysWhatItsFlagsSay) {
  const TempFiles files;
  ServerOptions options = LocalOptions(files.Write("rules.yaml", kTwoRules));
  options.rate_limit_headers = HeaderProfile::kLegacy;
  options.envoy_shadow_mode = true;
  options.envoy_dynamic_metadata = true;
  const auto app = StartServerApp(options);
  ASSERT_TRUE(app.ok()) << app.status();
  const int http = (*app)->http_port();
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(
        AskHttp(http, "POST", "/json", kAna),
        AllOf(StartsWith("HTTP/1.1 200 "), HasSubstr("X-RateLimit-Remaining"),
              HasSubstr(R"("dynamicMetadata":{)")));
  }
  EXPECT_THAT(AskHttp(http, "GET", "/check?.domain=shop&user=bob"),
              HasSubstr("X-RateLimit-Remaining: 1\r\n"));
}

TEST(ServerApp, TellsReadinessUntilItDrains) {
  const TempFiles files;
  const auto app =
      StartServerApp(LocalOptions(files.Write("rules.yaml", kTwoRules)));
  ASSERT_TRUE(app.ok()) << app.status();
  const int http = (*app)->http_port();
  EXPECT_THAT(AskHttp(http, "GET", "/readyz"),
              AllOf(StartsWith("HTTP/1.1 200 "), HasSubstr("2 rules")));
  (*app)->AnnounceShutdown();
  EXPECT_THAT(AskHttp(http, "GET", "/readyz"),
              AllOf(StartsWith("HTTP/1.1 503 "), HasSubstr("draining")));
  EXPECT_EQ(Ask(**app, "ana").outcome(), v1::ALLOWED);
  (*app)->Drain();
  EXPECT_THAT(AskHttp(http, "GET", "/healthz"), StartsWith("HTTP/1.1 200 "));
}

TEST(ServerApp, RunsWithoutHttp) {
  const TempFiles files;
  ServerOptions options = LocalOptions(files.Write("rules.yaml", kTwoRules));
  options.http_listen.clear();
  const auto app = StartServerApp(options);
  ASSERT_TRUE(app.ok()) << app.status();
  EXPECT_EQ((*app)->http_port(), 0);
  EXPECT_EQ(Ask(**app, "ana").outcome(), v1::ALLOWED);
}

TEST(ServerApp, NamesEveryMistakeOfTheRules) {
  const TempFiles files;
  const std::string rules = files.Write("rules.yaml",
                                        "domain: shop\n"
                                        "rules:\n"
                                        "  - name: a\n"
                                        "    key: [user]\n"
                                        "    limit: 0/second\n"
                                        "  - name: b\n"
                                        "    key: [user]\n"
                                        "    limits: 1/second\n");
  EXPECT_THAT(
      StartServerApp(LocalOptions(rules)),
      StatusIs(absl::StatusCode::kInvalidArgument,
               AllOf(HasSubstr("rules[0].limit"), HasSubstr("rules[1]"))));
  EXPECT_THAT(
      StartServerApp(LocalOptions(files.Path("missing.yaml"))),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("missing.yaml")));
}

TEST(ServerApp, SaysWhichAddressItCannotHave) {
  const TempFiles files;
  const std::string rules = files.Write("rules.yaml", kTwoRules);
  const auto app = StartServerApp(LocalOptions(rules));
  ASSERT_TRUE(app.ok()) << app.status();
  ServerOptions options = LocalOptions(rules);
  options.listen = absl::StrCat("127.0.0.1:", (*app)->grpc_port());
  EXPECT_THAT(StartServerApp(options), StatusIs(absl::StatusCode::kUnavailable,
                                                HasSubstr(options.listen)));
  options = LocalOptions(rules);
  options.http_listen = absl::StrCat("127.0.0.1:", (*app)->http_port());
  EXPECT_THAT(
      StartServerApp(options),
      StatusIs(absl::StatusCode::kUnavailable, HasSubstr(options.http_listen)));
}

}  // namespace
}  // namespace tollgate
