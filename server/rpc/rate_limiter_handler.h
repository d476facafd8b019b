#ifndef TOLLGATE_SERVER_RPC_RATE_LIMITER_HANDLER_H_
#define TOLLGATE_SERVER_RPC_RATE_LIMITER_HANDLER_H_

#include <cstdint>

#include "absl/status/status.h"
#include "server/base/clock.h"
#include "server/base/finish.h"
#include "server/limiter/bucket_store.h"
#include "server/rpc/convert.h"
#include "server/rpc/handlers.h"
#include "server/rpc/rpc_observer.h"
#include "tollgate/v1/rate_limiter.pb.h"

namespace tollgate {

inline constexpr int kMaxBatch = 1000;

// Asks the store. On an error nothing was taken or given back:
// INVALID_ARGUMENT names the field, DEADLINE_EXCEEDED says that the deadline
// had passed. Thread-compatible; calls of a store that answers later overlap.
class RateLimiterHandler final : public MessageHandler {
 public:
  // All must outlive the handler and its calls. `limiter_clock` is the one that
  // `decided_at` is told on.
  RateLimiterHandler(BucketStore& store, const Clock& limiter_clock,
                     RpcObserver& observer)
      : store_(store), limiter_clock_(limiter_clock), observer_(observer) {}

  void ShouldAllow(const v1::ShouldAllowRequest& request, int64_t deadline_ns,
                   v1::ShouldAllowResponse& response, Finish finish) override;

  // OK with an answer for each request, in their order. One that is bad, about
  // a domain that `check` refuses or past the deadline has a BatchError; a
  // field's path starts `requests[3].`.
  void ShouldAllowBatch(const v1::ShouldAllowBatchRequest& request,
                        int64_t deadline_ns, DomainCheck check,
                        v1::ShouldAllowBatchResponse& response,
                        Finish finish) override;

  // Gives back as of `decided_at`, or now if that is unset or yet to come.
  void Refund(const v1::RefundRequest& request, int64_t deadline_ns,
              v1::RefundResponse& response, Finish finish) override;

  void Release(const v1::ReleaseRequest& request, int64_t deadline_ns,
               v1::ReleaseResponse& response, Finish finish) override;

 private:
  absl::Status Invalid(absl::Status status);
  // What becomes of a call that was decided so.
  absl::Status Answer(const Decision& decision,
                      v1::ShouldAllowResponse& response);

  BucketStore& store_;
  const Clock& limiter_clock_;
  RpcObserver& observer_;
  RequestView view_;  // of the request that is being handed to the store
};

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_RPC_RATE_LIMITER_HANDLER_H_
