#ifndef TOLLGATE_SERVER_RPC_RATE_LIMITER_HANDLER_H_
#define TOLLGATE_SERVER_RPC_RATE_LIMITER_HANDLER_H_

#include <cstdint>

#include "absl/status/status.h"
#include "server/limiter/limiter.h"
#include "server/rpc/convert.h"
#include "server/rpc/rpc_server.h"
#include "tollgate/v1/rate_limiter.pb.h"

namespace tollgate {

inline constexpr int kMaxBatch = 1000;

// The service's methods as functions of messages. Each thread has its own,
// which keeps its storage between calls. Thread-compatible.
//
// `deadline_ns` is on the limiter's clock; `response` must be empty. On an
// error nothing was taken: INVALID_ARGUMENT names the field, DEADLINE_EXCEEDED
// says that the deadline had passed.
class RateLimiterHandler {
 public:
  // Both must outlive the handler.
  RateLimiterHandler(Limiter& limiter, RpcObserver& observer)
      : limiter_(limiter), observer_(observer) {}

  absl::Status ShouldAllow(const v1::ShouldAllowRequest& request,
                           int64_t deadline_ns,
                           v1::ShouldAllowResponse& response);

  // OK with an answer for each request, in their order. One that is bad or
  // past the deadline has a BatchError; a field's path starts `requests[3].`.
  absl::Status ShouldAllowBatch(const v1::ShouldAllowBatchRequest& request,
                                int64_t deadline_ns,
                                v1::ShouldAllowBatchResponse& response);

 private:
  Limiter& limiter_;
  RpcObserver& observer_;
  RequestView view_;
};

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_RPC_RATE_LIMITER_HANDLER_H_
