#ifndef TOLLGATE_SERVER_ENVOY_ENVOY_ANSWER_H_
#define TOLLGATE_SERVER_ENVOY_ENVOY_ANSWER_H_

#include <cstddef>
#include <vector>

#include "envoy/service/ratelimit/v3/rls.pb.h"
#include "server/headers/rate_limit_headers.h"
#include "server/limiter/decision.h"

namespace tollgate {

// What an answer to a gateway holds besides the statuses.
struct EnvoyAnswerOptions {
  // The headers that the gateway is told to add to its response.
  HeaderProfile headers = HeaderProfile::kNone;
  // dynamic_metadata: the request as it was asked, and the metadata of the
  // rules that it matched.
  bool dynamic_metadata = false;
  // The whole answer is OK, whatever the statuses say.
  bool shadow_mode = false;
};

// Writes the decision on `request` into `response`, which must be empty;
// `places` is where in the message the decided descriptors are. The decision
// must not be expired or overridden.
//
// - There is a status for each descriptor of the message, in their order. One
//   that no limit applies to is OK and nothing else; one that only an unlimited
//   rule applies to has all of limit_remaining.
// - A descriptor with several limits tells the one with the least remaining,
//   the first of equals; but if any refuses, the last that does.
// - limit_remaining is 0 with OVER_LIMIT, and where a shadow rule would refuse.
// - duration_until_reset is until the bucket is full, in whole seconds rounded
//   up: for a window until it ends, for a token bucket that is full already 0.
// - Under native rules a bucket that several descriptors select is told of
//   once, at the one that asks the most of it; a period that is no unit of the
//   protocol is UNKNOWN.
void ToEnvoy(const Decision& decision,
             const envoy::service::ratelimit::v3::RateLimitRequest& request,
             const std::vector<size_t>& places,
             const EnvoyAnswerOptions& options,
             envoy::service::ratelimit::v3::RateLimitResponse& response);

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_ENVOY_ENVOY_ANSWER_H_
