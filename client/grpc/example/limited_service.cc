// A gRPC service that Tollgate limits: each method asks first. It answers
// grpc.health.v1.Health, so that any health client can call it.
//
//   tollgate-limited-service LISTEN [HOST:PORT of tollgate-server]
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

class LimitedHealth final : public Health::Service {
 public:
  explicit LimitedHealth(tollgate::client::ServiceLimiter& limiter)
      : limiter_(limiter) {}

  grpc::Status Check(grpc::ServerContext* context,
                     const HealthCheckRequest* /*request*/,
                     HealthCheckResponse* response) override {
    const auto admission = limiter_.Admit(*context, "Check");
    if (!admission.ok()) return admission.status();
    response->set_status(HealthCheckResponse::SERVING);
    return grpc::Status::OK;
  }

 private:
  tollgate::client::ServiceLimiter& limiter_;
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

  LimitedHealth service(limiter);
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort(argv[1], grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(&service);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr) {
    std::cerr << "cannot listen at " << argv[1] << "\n";
    return 2;
  }
  std::cout << "listening at port " << port << std::endl;
  server->Wait();
}
