#ifndef TOLLGATE_SERVER_ENVOY_ENVOY_HANDLER_H_
#define TOLLGATE_SERVER_ENVOY_ENVOY_HANDLER_H_

#include <cstdint>

#include "absl/status/status.h"
#include "envoy/service/ratelimit/v3/rls.pb.h"
#include "server/envoy/envoy_answer.h"
#include "server/envoy/envoy_request.h"
#include "server/limiter/limiter.h"

namespace tollgate {

// ShouldRateLimit of Envoy's RateLimitService as a function of messages.
// Thread-compatible: each thread has its own, which keeps its storage between
// calls.
class EnvoyHandler {
 public:
  // `limiter` must outlive the handler.
  EnvoyHandler(Limiter& limiter, const EnvoyAnswerOptions& options)
      : limiter_(limiter), options_(options) {}

  // `deadline_ns` is on the limiter's clock; `response` must be empty. A
  // request over the limit is OK. On an error nothing was taken:
  //   INVALID_ARGUMENT    the request is bad; the message says what
  //   UNAVAILABLE         no rules are loaded yet
  //   DEADLINE_EXCEEDED   the deadline had passed
  //   RESOURCE_EXHAUSTED  gateways brought too many different limits along
  absl::Status ShouldRateLimit(
      const envoy::service::ratelimit::v3::RateLimitRequest& request,
      int64_t deadline_ns,
      envoy::service::ratelimit::v3::RateLimitResponse& response);

 private:
  Limiter& limiter_;
  const EnvoyAnswerOptions options_;
  EnvoyRequestView view_;
};

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_ENVOY_ENVOY_HANDLER_H_
