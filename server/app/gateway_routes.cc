#include "server/app/gateway_routes.h"

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "server/envoy/envoy_handler.h"
#include "server/envoy/envoy_json.h"
#include "server/http/check_route.h"

namespace tollgate {
namespace {

HttpAnswer AnswerJson(Limiter& limiter, const EnvoyAnswerOptions& options,
                      absl::string_view body) {
  EnvoyHandler handler(limiter, options);
  absl::StatusOr<EnvoyJsonAnswer> answer = ShouldRateLimitJson(handler, body);
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
                                         Limiter& limiter,
                                         const Clock& steady_clock,
                                         RpcObserver& observer) {
  const auto observed = [&steady_clock, &observer](auto answer_to) {
    return [&steady_clock, &observer, answer_to](const HttpRequest& request) {
      const int64_t arrived_ns = steady_clock.NowNs();
      observer.OnArrival();
      HttpAnswer answer = answer_to(request);
      if (answer.code == 400) observer.OnInvalid();
      observer.OnFinish(steady_clock.NowNs() - arrived_ns);
      return answer;
    };
  };
  return {
      {.path = "/json",
       .about = "Envoy's RateLimitRequest as JSON: 200, or 429 over the limit",
       .any_method = true,
       .answer = observed(
           [&limiter, gateway = options.gateway](const HttpRequest& request) {
             return AnswerJson(limiter, gateway, request.body);
           })},
      {.path = "/check",
       .about = "?.domain=D&key=value...: 200, or 429 over the limit",
       .answer = observed([&limiter, headers = options.check_headers](
                              const HttpRequest& request) {
         return Check(limiter, headers, request.query);
       })}};
}

}  // namespace tollgate
