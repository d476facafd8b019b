// Asks a server once, and says who answered what:
//
//   consumer HOST:PORT
#include <iostream>

#include "client/client.h"
#include "client/grpc/limited_service.h"
#include "client/grpc/service_limiter.h"
#include "client/http_headers.h"

static_assert(__cplusplus < 202002L);

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  tollgate::client::ClientOptions options;
  options.target = argv[1];
  options.timeout = absl::Seconds(10);
  auto client = tollgate::client::Client::Create(options);
  if (!client.ok()) {
    std::cerr << client.status() << "\n";
    return 2;
  }
  const tollgate::client::Decision decision =
      (*client)->ShouldAllow({"shop", {{{"user", "ana"}}}});
  std::cout << tollgate::client::OutcomeName(decision.outcome) << " by "
            << tollgate::client::SourceName(decision.source) << "\n";
  for (const auto& header : tollgate::client::HttpHeaders(
           decision, tollgate::client::HeaderProfile::kLegacy)) {
    std::cout << header.name << ": " << header.value << "\n";
  }
  tollgate::client::ServiceLimiterOptions limits;
  limits.domain = "shop";
  tollgate::client::ServiceLimiter limiter(**client, limits);
  std::cout << "ready to limit a gRPC service\n";
}
