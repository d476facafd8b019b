#include "server/rpc/rate_limiter_handler.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "server/limiter/decision.h"
#include "server/limiter/request.h"

namespace tollgate {

absl::Status RateLimiterHandler::ShouldAllow(
    const v1::ShouldAllowRequest& request, int64_t deadline_ns,
    v1::ShouldAllowResponse& response) {
  const Request& view = view_.Show(request, deadline_ns);
  absl::Status valid = ValidateRequest(view);
  if (!valid.ok()) {
    observer_.OnInvalid();
    return valid;
  }
  const Decision decision = limiter_.Decide(view);
  if (decision.outcome == Outcome::kExpired) {
    observer_.OnExpired();
    return absl::DeadlineExceededError(
        "the deadline had passed before the request was decided");
  }
  ToProto(decision, response);
  return absl::OkStatus();
}

absl::Status RateLimiterHandler::ShouldAllowBatch(
    const v1::ShouldAllowBatchRequest& request, int64_t deadline_ns,
    v1::ShouldAllowBatchResponse& response) {
  const int size = request.requests_size();
  if (size < 1 || size > kMaxBatch) {
    observer_.OnInvalid();
    return absl::InvalidArgumentError(
        absl::StrCat("requests: got ", size, ", want 1 to ", kMaxBatch));
  }
  response.mutable_answers()->Reserve(size);
  for (int i = 0; i < size; ++i) {
    v1::BatchAnswer& answer = *response.add_answers();
    const absl::Status status = ShouldAllow(request.requests(i), deadline_ns,
                                            *answer.mutable_decision());
    if (status.ok()) continue;
    v1::BatchError& error = *answer.mutable_error();  // replaces the decision
    error.set_code(static_cast<int32_t>(status.code()));
    const std::string message(status.message());
    error.set_message(absl::IsInvalidArgument(status)
                          ? absl::StrCat("requests[", i, "].", message)
                          : message);
  }
  return absl::OkStatus();
}

}  // namespace tollgate
