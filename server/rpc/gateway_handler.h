#ifndef TOLLGATE_SERVER_RPC_GATEWAY_HANDLER_H_
#define TOLLGATE_SERVER_RPC_GATEWAY_HANDLER_H_

#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "envoy/service/ratelimit/v3/rls.pb.h"
#include "server/base/finish.h"
#include "server/envoy/envoy_handler.h"
#include "server/rpc/rpc_observer.h"

namespace tollgate {

// Envoy's RateLimitService as functions of messages: the handler that the HTTP
// port asks too, with what becomes of its calls told to the observer.
// Thread-compatible.
class GatewayHandler {
 public:
  using Request = envoy::service::ratelimit::v3::RateLimitRequest;
  using Response = envoy::service::ratelimit::v3::RateLimitResponse;

  // All must outlive the handler and its calls.
  GatewayHandler(const Limiter& limiter, BucketStore& store,
                 const EnvoyAnswerOptions& options, RpcObserver& observer)
      : envoy_(limiter, store, options), observer_(observer) {}

  // As EnvoyHandler.
  void ShouldRateLimit(const Request& request, int64_t deadline_ns,
                       Response& response, Finish finish) {
    envoy_.ShouldRateLimit(
        request, deadline_ns, response,
        [this, finish = std::move(finish)](absl::Status status) mutable {
          if (absl::IsInvalidArgument(status)) observer_.OnInvalid();
          if (absl::IsDeadlineExceeded(status)) observer_.OnExpired();
          finish(std::move(status));
        });
  }

 private:
  EnvoyHandler envoy_;
  RpcObserver& observer_;
};

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_RPC_GATEWAY_HANDLER_H_
