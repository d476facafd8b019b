#include "server/envoy/envoy_json.h"

#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "google/protobuf/util/json_util.h"

namespace tollgate {

absl::StatusOr<EnvoyJsonAnswer> ShouldRateLimitJson(EnvoyHandler& handler,
                                                    absl::string_view body) {
  envoy::service::ratelimit::v3::RateLimitRequest request;
  const auto read = google::protobuf::util::JsonStringToMessage(
      google::protobuf::StringPiece(body.data(), body.size()), &request);
  if (!read.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the body is no RateLimitRequest in JSON: ",
        absl::string_view(read.message().data(), read.message().size())));
  }
  envoy::service::ratelimit::v3::RateLimitResponse response;
  absl::Status status = handler.ShouldRateLimit(
      request, std::numeric_limits<int64_t>::max(), response);
  if (!status.ok()) return status;
  EnvoyJsonAnswer answer;
  answer.over_limit =
      response.overall_code() ==
      envoy::service::ratelimit::v3::RateLimitResponse::OVER_LIMIT;
  const auto written =
      google::protobuf::util::MessageToJsonString(response, &answer.json);
  if (!written.ok()) {
    return absl::InternalError("the answer cannot be written as JSON");
  }
  return answer;
}

}  // namespace tollgate
