#ifndef TOLLGATE_CLIENT_GRPC_LIMITED_SERVICE_H_
#define TOLLGATE_CLIENT_GRPC_LIMITED_SERVICE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/grpc/service_limiter.h"
#include "grpcpp/impl/service_type.h"

namespace tollgate::client {

// A whole gRPC service, limited: registered with a server in the place of
// another one, it has the same methods, and asks before each call of any of
// them, unary or streaming.
//
//   GreeterService greeter;  // a Greeter::Service, written without limits
//   auto limited = LimitedService::Create<Greeter>(greeter, limiter);
//   if (!limited.ok()) ...
//   builder.RegisterService(limited->get());
//
// A call that is refused does not enter its method; it gets what
// Admission::status() says, and the pushback. One that a rule delays waits on
// its thread and is dropped if its caller gives up. One that is allowed holds
// its slots until the method has returned, so a stream holds them as long as it
// lives. A message that cannot be read is an error, without asking. The entry
// of the method has the bare name, such as "SayHello".
//
// It puts itself between the server and the handlers that protoc's plugin has
// made for `service`, by what that plugin's code itself uses of gRPC, and works
// with gRPC 1.51 and later. Thread-safe once created.
class LimitedService final : public grpc::Service {
 public:
  // Of a service with the synchronous API. `S` is the generated class, such as
  // Greeter. `service` and `limiter` must outlive it, and it the server.
  // INVALID_ARGUMENT if methods of `service` have another API: those ask by
  // ServiceLimiter::AdmitAsync. Not for S::StreamedUnaryService and its kind,
  // which turn unary methods into streams.
  template <typename S>
  static absl::StatusOr<std::unique_ptr<LimitedService>> Create(
      typename S::Service& service, ServiceLimiter& limiter) {
    return Make(S::service_full_name(), service, limiter);
  }

 private:
  LimitedService() = default;
  static absl::StatusOr<std::unique_ptr<LimitedService>> Make(
      const std::string& name, grpc::Service& service, ServiceLimiter& limiter);

  std::vector<std::unique_ptr<std::string>> names_;  // which methods point at
};

}  // namespace tollgate::client

#endif  // TOLLGATE_CLIENT_GRPC_LIMITED_SERVICE_H_
