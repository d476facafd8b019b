#include "server/app/gateway_routes.h"

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "server/envoy/envoy_json.h"
#include "server/http/check_route.h"

namespace tollgate {
namespace {

HttpAnswer ToHttp(absl::StatusOr<EnvoyJsonAnswer> answer) {
  if (!answer.ok()) {
    return {.code = absl::IsInvalidArgument(answer.status()) ? 400 : 503,
            .body = absl::StrCat(std::string(answer.status().message()), "\n")};
  }
  return {.code = answer->over_limit ? 429 : 200,
          .content_type = "application/json",
          .body = std::move(answer->json)};
}

}  // namespace

std::vector<HttpRoute> MakeGatewayRoutes(const GatewayRouteOptions& options,
                                         const Limiter& limiter,
                                         BucketStore& store,
                                         const Clock& steady_clock,
                                         RpcObserver& observer) {
  const auto observed = [&steady_clock, &observer](auto answer_to) {
    return [&steady_clock, &observer, answer_to](const HttpRequest& request,
                                                 HttpDone done) {
      const int64_t arrived_ns = steady_clock.NowNs();
      observer.OnArrival();
      answer_to(request, [&steady_clock, &observer, arrived_ns,
                          done = std::move(done)](HttpAnswer answer) mutable {
        if (answer.code == 400) observer.OnInvalid();
        observer.OnFinish(steady_clock.NowNs() - arrived_ns);
        done(std::move(answer));
      });
    };
  };
  return {
      {.path = "/json",
       .about = "Envoy's RateLimitRequest as JSON: 200, or 429 over the limit",
       .any_method = true,
       .answer = observed([&limiter, &store, gateway = options.gateway](
                              const HttpRequest& request, HttpDone done) {
         ShouldRateLimitJson(
             limiter, store, gateway, request.body,
             [done = std::move(done)](
                 absl::StatusOr<EnvoyJsonAnswer> answer) mutable {
               done(ToHttp(std::move(answer)));
             });
       })},
      {.path = "/check",
       .about = "?.domain=D&key=value...: 200, or 429 over the limit",
       .answer = observed([&store, headers = options.check_headers](
                              const HttpRequest& request, HttpDone done) {
         Check(store, headers, request.query, std::move(done));
       })}};
}

}  // namespace tollgate
