#ifndef TOLLGATE_SERVER_ENVOY_ENVOY_JSON_H_
#define TOLLGATE_SERVER_ENVOY_ENVOY_JSON_H_

#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/envoy/envoy_answer.h"
#include "server/limiter/bucket_store.h"
#include "server/limiter/limiter.h"

namespace tollgate {

struct EnvoyJsonAnswer {
  bool over_limit = false;
  std::string json;  // the RateLimitResponse
};

// ShouldRateLimit for those who have no gRPC: `body` is a RateLimitRequest in
// proto3 JSON, with names in either style. Calls `done` once, maybe later and
// on another thread; until then all references live, but not `body`. Errors are
// EnvoyHandler's, and INVALID_ARGUMENT for what is no such JSON. Thread-safe.
void ShouldRateLimitJson(
    const Limiter& limiter, BucketStore& store,
    const EnvoyAnswerOptions& options, absl::string_view body,
    absl::AnyInvocable<void(absl::StatusOr<EnvoyJsonAnswer>)> done);

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_ENVOY_ENVOY_JSON_H_
