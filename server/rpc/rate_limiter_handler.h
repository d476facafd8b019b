#ifndef TOLLGATE_SERVER_RPC_RATE_LIMITER_HANDLER_H_
#define TOLLGATE_SERVER_RPC_RATE_LIMITER_HANDLER_H_

#include <cstdint>

#include "absl/status/status.h"
#include "server/limiter/limiter.h"
#include "server/rpc/convert.h"
#include "server/rpc/message_handler.h"
#include "server/rpc/rpc_server.h"
#include "tollgate/v1/rate_limiter.pb.h"

namespace tollgate {

inline constexpr int kMaxBatch = 1000;

// Asks the limiter. On an error nothing was taken: INVALID_ARGUMENT names the
// field, DEADLINE_EXCEEDED says that the deadline had passed.
// Thread-compatible.
class RateLimiterHandler final : public MessageHandler {
 public:
  // Both must outlive the handler.
  RateLimiterHandler(Limiter& limiter, RpcObserver& observer)
      : limiter_(limiter), observer_(observer) {}

  absl::Status ShouldAllow(const v1::ShouldAllowRequest& request,
                           int64_t deadline_ns,
                           v1::ShouldAllowResponse& response) override;

  // OK with an answer for each request, in their order. One that is bad or
  // past the deadline has a BatchError; a field's path starts `requests[3].`.
  absl::Status ShouldAllowBatch(
      const v1::ShouldAllowBatchRequest& request, int64_t deadline_ns,
      v1::ShouldAllowBatchResponse& response) override;

 private:
  Limiter& limiter_;
  RpcObserver& observer_;
  RequestView view_;
};

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_RPC_RATE_LIMITER_HANDLER_H_
