#ifndef TOLLGATE_SERVER_RPC_RATE_LIMITER_HANDLER_H_
#define TOLLGATE_SERVER_RPC_RATE_LIMITER_HANDLER_H_

#include <cstdint>

#include "absl/status/status.h"
#include "server/base/clock.h"
#include "server/limiter/limiter.h"
#include "server/rpc/convert.h"
#include "server/rpc/handlers.h"
#include "server/rpc/rpc_server.h"
#include "tollgate/v1/rate_limiter.pb.h"

namespace tollgate {

inline constexpr int kMaxBatch = 1000;

// Asks the limiter. On an error nothing was taken or given back:
// INVALID_ARGUMENT names the field, DEADLINE_EXCEEDED says that the deadline
// had passed. Thread-compatible.
class RateLimiterHandler final : public MessageHandler {
 public:
  // All must outlive the handler. `limiter_clock` is the one that the limiter
  // reads.
  RateLimiterHandler(Limiter& limiter, const Clock& limiter_clock,
                     RpcObserver& observer)
      : limiter_(limiter), limiter_clock_(limiter_clock), observer_(observer) {}

  absl::Status ShouldAllow(const v1::ShouldAllowRequest& request,
                           int64_t deadline_ns,
                           v1::ShouldAllowResponse& response) override;

  // OK with an answer for each request, in their order. One that is bad or
  // past the deadline has a BatchError; a field's path starts `requests[3].`.
  absl::Status ShouldAllowBatch(
      const v1::ShouldAllowBatchRequest& request, int64_t deadline_ns,
      v1::ShouldAllowBatchResponse& response) override;

  // Gives back as of `decided_at`, or now if that is unset or yet to come.
  absl::Status Refund(const v1::RefundRequest& request, int64_t deadline_ns,
                      v1::RefundResponse& response) override;

  absl::Status Release(const v1::ReleaseRequest& request, int64_t deadline_ns,
                       v1::ReleaseResponse& response) override;

 private:
  absl::Status Invalid(absl::Status status);

  Limiter& limiter_;
  const Clock& limiter_clock_;
  RpcObserver& observer_;
  RequestView view_;
};

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_RPC_RATE_LIMITER_HANDLER_H_
