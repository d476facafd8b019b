#ifndef TOLLGATE_SERVER_APP_GATEWAY_ROUTES_H_
#define TOLLGATE_SERVER_APP_GATEWAY_ROUTES_H_

#include <vector>

#include "server/base/clock.h"
#include "server/envoy/envoy_answer.h"
#include "server/headers/rate_limit_headers.h"
#include "server/http/http_route.h"
#include "server/limiter/bucket_store.h"
#include "server/limiter/limiter.h"
#include "server/rpc/rpc_server.h"

namespace tollgate {

struct GatewayRouteOptions {
  EnvoyAnswerOptions gateway;                             // of /json
  HeaderProfile check_headers = HeaderProfile::kDraft10;  // of /check
};

// The routes on which gateways without gRPC ask:
//   /json   any method; the body is Envoy's RateLimitRequest in JSON. 200, or
//           429 over the limit, with the RateLimitResponse; else 400 or 503,
//           and why
//   /check  see Check
// The observer is told of each as of a call over gRPC. All references must
// outlive the routes and their calls; `store` has the buckets under the rules
// of `limiter`.
[[nodiscard]] std::vector<HttpRoute> MakeGatewayRoutes(
    const GatewayRouteOptions& options, const Limiter& limiter,
    BucketStore& store, const Clock& steady_clock, RpcObserver& observer);

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_APP_GATEWAY_ROUTES_H_
