#ifndef TOLLGATE_SERVER_ENVOY_ENVOY_JSON_H_
#define TOLLGATE_SERVER_ENVOY_ENVOY_JSON_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/envoy/envoy_handler.h"

namespace tollgate {

struct EnvoyJsonAnswer {
  bool over_limit = false;
  std::string json;  // the RateLimitResponse
};

// ShouldRateLimit for those who have no gRPC: `body` is a RateLimitRequest in
// proto3 JSON, with names in either style. Errors are the handler's, and
// INVALID_ARGUMENT for what is no such JSON.
[[nodiscard]] absl::StatusOr<EnvoyJsonAnswer> ShouldRateLimitJson(
    EnvoyHandler& handler, absl::string_view body);

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_ENVOY_ENVOY_JSON_H_
