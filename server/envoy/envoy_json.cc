#include "server/envoy/envoy_json.h"

#include <limits>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "envoy/service/ratelimit/v3/rls.pb.h"
#include "google/protobuf/util/json_util.h"
#include "server/envoy/envoy_handler.h"

namespace tollgate {
namespace {

using envoy::service::ratelimit::v3::RateLimitRequest;
using envoy::service::ratelimit::v3::RateLimitResponse;

// One call until it is over.
struct JsonCall {
  EnvoyHandler handler;
  RateLimitRequest request;
  RateLimitResponse response;
};

absl::StatusOr<EnvoyJsonAnswer> ToJson(const RateLimitResponse& response) {
  EnvoyJsonAnswer answer;
  answer.over_limit = response.overall_code() == RateLimitResponse::OVER_LIMIT;
  const auto written =
      google::protobuf::util::MessageToJsonString(response, &answer.json);
  if (!written.ok()) {
    return absl::InternalError("the answer cannot be written as JSON");
  }
  return answer;
}

}  // namespace

void ShouldRateLimitJson(
    const Limiter& limiter, BucketStore& store,
    const EnvoyAnswerOptions& options, absl::string_view body,
    absl::AnyInvocable<void(absl::StatusOr<EnvoyJsonAnswer>)> done) {
  auto call = std::make_unique<JsonCall>(
      JsonCall{EnvoyHandler(limiter, store, options), {}, {}});
  const auto read = google::protobuf::util::JsonStringToMessage(
      google::protobuf::StringPiece(body.data(), body.size()), &call->request);
  if (!read.ok()) {
    return done(absl::InvalidArgumentError(absl::StrCat(
        "the body is no RateLimitRequest in JSON: ",
        absl::string_view(read.message().data(), read.message().size()))));
  }
  JsonCall& asked = *call;
  asked.handler.ShouldRateLimit(
      asked.request, std::numeric_limits<int64_t>::max(), asked.response,
      [call = std::move(call),
       done = std::move(done)](const absl::Status& status) mutable {
        if (!status.ok()) return done(status);
        done(ToJson(call->response));
      });
}

}  // namespace tollgate
