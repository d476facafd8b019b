// Who may call what, by the names in the certificates of clients.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "envoy/service/ratelimit/v3/rls.grpc.pb.h"
#include "gmock/gmock.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"
#include "server/app/server_app.h"
#include "tests/app/tls_service.h"
#include "tests/client/cli/run_tollgate.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_files.h"
#include "tollgate/v1/rate_limiter.grpc.pb.h"

namespace tollgate {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Identities, OnlyIdentitiesThatAreListedMayCall) {
  const TempFiles files;
  ServerOptions options = MutualTlsOptions(files);
  options.tls_allow_identities = {"other.test", "spiffe://test/shop"};
  options.admin_identities = {kName};
  const auto app = StartServerApp(options);
  ASSERT_THAT(app, IsOk());
  EXPECT_THAT(Ask(**app, "client"), Fails(grpc::StatusCode::OK));
  // Its name is tollgate.test, which may call Admin alone.
  EXPECT_THAT(Ask(**app, "server"), Fails(grpc::StatusCode::PERMISSION_DENIED));
  const auto rules = [&](const std::string& who) {
    return cli::RunTollgate(
        {"rules", "--timeout=30s",
         absl::StrCat("--server=127.0.0.1:", (*app)->grpc_port()),
         "--tls-ca=" + Made().Path("ca.pem"),
         "--tls-cert=" + Made().Path(who + ".pem"),
         "--tls-key=" + Made().Path(who + ".key"),
         absl::StrCat("--tls-server-name=", kName)});
  };
  EXPECT_EQ(rules("server").exit_status, 0);
  EXPECT_THAT(rules("client").err, HasSubstr("PERMISSION_DENIED"));
}

TEST(Identities, AdminThatIsOffIsForNobodyAlsoInPlainText) {
  const TempFiles files;
  ServerOptions options = TlsOptions(files);
  options.tls_cert = options.tls_key = "";
  options.admin = false;
  const auto app = StartServerApp(options);
  ASSERT_THAT(app, IsOk());
  const std::string server =
      absl::StrCat("--server=127.0.0.1:", (*app)->grpc_port());
  EXPECT_THAT(cli::RunTollgate({"rules", server, "--timeout=30s"}).err,
              HasSubstr("PERMISSION_DENIED: Admin is off"));
  EXPECT_EQ(cli::RunTollgate(
                {"check", "--domain=shop", "user=ana", server, "--timeout=30s"})
                .exit_status,
            0);
}

constexpr char kShop[] = "spiffe://test/shop";  // the name of "client"

// A service whose domain "shop" is for `identity`; a second domain, "open", is
// for all.
absl::StatusOr<std::unique_ptr<ServerApp>> ServeShopTo(
    const TempFiles& files, const std::string& identity) {
  ServerOptions options = MutualTlsOptions(files);
  std::filesystem::create_directory(files.Path("rules"));
  (void)files.Write("rules/shop.yaml", kTwoRules);
  (void)files.Write("rules/open.yaml",
                    "domain: open\n"
                    "rules: [{name: all, limit: 100/day}]\n");
  options.rules = files.Path("rules");
  options.domain_identities["shop"] = {identity, "another.test"};
  return StartServerApp(options);
}

void Patient(grpc::ClientContext& context) {
  context.set_deadline(std::chrono::system_clock::now() +
                       std::chrono::seconds(30));
}

v1::ShouldAllowRequest RequestAbout(const std::string& domain) {
  v1::ShouldAllowRequest request;
  request.set_domain(domain);
  v1::Entry& entry = *request.add_descriptors()->add_entries();
  entry.set_key("user");
  entry.set_value("ana");
  return request;
}

// The domains whose rules a client gets that names `domains`, or none.
absl::StatusOr<std::vector<std::string>> Watched(
    v1::RateLimiter::Stub& stub, const std::vector<std::string>& domains) {
  grpc::ClientContext context;
  Patient(context);
  v1::WatchPolicyRequest request;
  for (const std::string& domain : domains) request.add_domains(domain);
  const auto reader = stub.WatchPolicy(&context, request);
  v1::Policy policy;
  std::vector<std::string> found;
  while (reader->Read(&policy)) {
    for (const auto& rule : policy.rules()) found.push_back(rule.domain());
    if (policy.part() + 1 >= policy.parts()) {
      found.erase(std::unique(found.begin(), found.end()), found.end());
      context.TryCancel();
      return found;
    }
  }
  return absl::PermissionDeniedError(reader->Finish().error_message());
}

TEST(Identities, ADomainIsForThoseThatAreListedForIt) {
  const TempFiles files;
  const auto app = ServeShopTo(files, kShop);
  ASSERT_THAT(app, IsOk());
  EXPECT_THAT(Ask(**app, "client"), Fails(grpc::StatusCode::OK));
  const Answer refused = Ask(**app, "server");
  EXPECT_THAT(refused, Fails(grpc::StatusCode::PERMISSION_DENIED));
  EXPECT_THAT(refused.status.error_message(), HasSubstr("about \"shop\""));
  const auto stub = Connect(**app, "server", "ca");
  grpc::ClientContext context;
  Patient(context);
  v1::ShouldAllowResponse response;
  EXPECT_TRUE(
      stub->ShouldAllow(&context, RequestAbout("open"), &response).ok());
}

TEST(Identities, ARequestOfABatchAboutAForbiddenDomainFailsAlone) {
  const TempFiles files;
  const auto app = ServeShopTo(files, kShop);
  ASSERT_THAT(app, IsOk());
  v1::ShouldAllowBatchRequest batch;
  for (const char* domain : {"open", "shop", "open"}) {
    *batch.add_requests() = RequestAbout(domain);
  }
  for (const char* who : {"client", "server"}) {
    grpc::ClientContext context;
    Patient(context);
    v1::ShouldAllowBatchResponse response;
    ASSERT_TRUE(Connect(**app, who, "ca")
                    ->ShouldAllowBatch(&context, batch, &response)
                    .ok());
    std::vector<int> codes;
    for (const auto& answer : response.answers()) {
      codes.push_back(answer.has_error() ? answer.error().code() : 0);
    }
    const int shop = std::string(who) == "client"
                         ? 0
                         : int{grpc::StatusCode::PERMISSION_DENIED};
    EXPECT_THAT(codes, ElementsAre(0, shop, 0)) << who;
  }
}

TEST(Identities, NobodyGivesBackOrAsksForAGatewayAboutAForbiddenDomain) {
  const TempFiles files;
  const auto app = ServeShopTo(files, kShop);
  ASSERT_THAT(app, IsOk());
  const auto channel = Connection(**app, "server", "ca");
  grpc::ClientContext refunding;
  Patient(refunding);
  v1::RefundRequest refund;
  refund.set_domain("shop");
  *refund.mutable_descriptors() = RequestAbout("shop").descriptors();
  v1::RefundResponse refunded;
  EXPECT_EQ(v1::RateLimiter::NewStub(channel)
                ->Refund(&refunding, refund, &refunded)
                .error_code(),
            grpc::StatusCode::PERMISSION_DENIED);
  grpc::ClientContext asking;
  Patient(asking);
  using envoy::service::ratelimit::v3::RateLimitService;
  envoy::service::ratelimit::v3::RateLimitRequest request;
  request.set_domain("shop");
  auto& entry = *request.add_descriptors()->add_entries();
  entry.set_key("user");
  entry.set_value("ana");
  envoy::service::ratelimit::v3::RateLimitResponse response;
  EXPECT_EQ(RateLimitService::NewStub(channel)
                ->ShouldRateLimit(&asking, request, &response)
                .error_code(),
            grpc::StatusCode::PERMISSION_DENIED);
}

TEST(Identities, PolicyOfAForbiddenDomainIsNotPushed) {
  const TempFiles files;
  const auto app = ServeShopTo(files, kShop);
  ASSERT_THAT(app, IsOk());
  const auto client = Connect(**app, "client", "ca");
  const auto server = Connect(**app, "server", "ca");
  EXPECT_THAT(*Watched(*client, {}), ElementsAre("open", "shop"));
  EXPECT_THAT(*Watched(*server, {}), ElementsAre("open"));
  EXPECT_THAT(*Watched(*server, {"open"}), ElementsAre("open"));
  EXPECT_THAT(Watched(*server, {"open", "shop"}).status().message(),
              HasSubstr("about \"shop\""));
}

}  // namespace
}  // namespace tollgate
