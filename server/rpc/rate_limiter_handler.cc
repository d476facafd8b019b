#include "server/rpc/rate_limiter_handler.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "server/limiter/decision.h"
#include "server/limiter/request.h"

namespace tollgate {

absl::Status RateLimiterHandler::Invalid(absl::Status status) {
  observer_.OnInvalid();
  return status;
}

absl::Status RateLimiterHandler::ShouldAllow(
    const v1::ShouldAllowRequest& request, int64_t deadline_ns,
    v1::ShouldAllowResponse& response) {
  const Request& view = view_.Show(request, deadline_ns);
  absl::Status valid = ValidateRequest(view);
  if (!valid.ok()) return Invalid(std::move(valid));
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
    return Invalid(absl::InvalidArgumentError(
        absl::StrCat("requests: got ", size, ", want 1 to ", kMaxBatch)));
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

absl::Status RateLimiterHandler::Refund(const v1::RefundRequest& request,
                                        int64_t deadline_ns,
                                        v1::RefundResponse& response) {
  const Request& view =
      view_.Show(request.domain(), request.descriptors(),
                 request.has_cost() ? request.cost() : 1, deadline_ns);
  absl::Status valid = ValidateRequest(view);
  if (!valid.ok()) return Invalid(std::move(valid));
  if (view.cost == 0) {
    return Invalid(absl::InvalidArgumentError("cost: got 0, want at least 1"));
  }
  int64_t taken_at_ns = limiter_clock_.NowNs();
  if (request.has_decided_at()) {
    const absl::StatusOr<int64_t> decided_at_ns = ToNs(request.decided_at());
    if (!decided_at_ns.ok()) {
      return Invalid(absl::InvalidArgumentError(absl::StrCat(
          "decided_at: ", std::string(decided_at_ns.status().message()))));
    }
    taken_at_ns = std::min(taken_at_ns, *decided_at_ns);
  }
  const absl::StatusOr<std::vector<Fingerprint>> overflow =
      OverflowOf(request.overflow());
  if (!overflow.ok()) return Invalid(overflow.status());
  const Decision decision = limiter_.Refund(view, taken_at_ns, *overflow);
  for (const RuleStatus& status : decision.statuses) {
    ToProto(status, *response.add_statuses());
  }
  return absl::OkStatus();
}

absl::Status RateLimiterHandler::Release(const v1::ReleaseRequest& request,
                                         int64_t, v1::ReleaseResponse&) {
  absl::StatusOr<std::vector<HeldSlots>> slots = SlotsOf(request.ticket());
  if (!slots.ok()) return Invalid(slots.status());
  for (const HeldSlots& held : *slots) limiter_.Release(held);
  return absl::OkStatus();
}

}  // namespace tollgate
