// A gRPC service that Tollgate limits as a whole: its methods know nothing of
// it. It answers grpc.health.v1.Health, so that any health client can call it.
//
//   tollgate-limited-service LISTEN [HOST:PORT of tollgate-server]
#include "client/grpc/limited_service.h"

#include <iostream>
#include <memory>
#include <string>

#include "client/client.h"
#include "client/grpc/service_limiter.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "grpcpp/security/server_credentials.h"
#include "grpcpp/server.h"
#include "grpcpp/server_builder.h"

namespace {

using grpc::health::v1::Health;
using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;

class HealthService final : public Health::Service {
  grpc::Status Check(grpc::ServerContext* /*context*/,
                     const HealthCheckRequest* /*request*/,
                     HealthCheckResponse* response) override {
    response->set_status(HealthCheckResponse::SERVING);
    return grpc::Status::OK;
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "want LISTEN [HOST:PORT]\n";
    return 2;
  }
  tollgate::client::ClientOptions options;
  if (argc > 2) options.target = argv[2];
  auto client = tollgate::client::Client::Create(options);
  if (!client.ok()) {
    std::cerr << client.status() << "\n";
    return 2;
  }
  // What the rules of domain "shop" may ask about: the method, the caller's
  // address, and the key that it sends.
  tollgate::client::ServiceLimiterOptions limits;
  limits.domain = "shop";
  limits.metadata = {{"x-api-key", "api_key"}};
  tollgate::client::ServiceLimiter limiter(**client, limits);

  // In place of the service itself, this one is registered.
  HealthService health;
  auto limited =
      tollgate::client::LimitedService::Create<Health>(health, limiter);
  if (!limited.ok()) {
    std::cerr << limited.status() << "\n";
    return 2;
  }
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort(argv[1], grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(limited->get());
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr) {
    std::cerr << "cannot listen at " << argv[1] << "\n";
    return 2;
  }
  std::cout << "listening at port " << port << std::endl;
  server->Wait();
}
