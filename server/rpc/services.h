#ifndef TOLLGATE_SERVER_RPC_SERVICES_H_
#define TOLLGATE_SERVER_RPC_SERVICES_H_

#include "tollgate/v1/admin.grpc.pb.h"
#include "tollgate/v1/rate_limiter.grpc.pb.h"

namespace tollgate {

// RateLimiter as the server answers it: messages, but bytes where all streams
// send the same ones.
using RateLimiterService = v1::RateLimiter::WithAsyncMethod_ShouldAllow<
    v1::RateLimiter::WithAsyncMethod_ShouldAllowBatch<
        v1::RateLimiter::WithAsyncMethod_Refund<
            v1::RateLimiter::WithAsyncMethod_Release<
                v1::RateLimiter::WithRawMethod_WatchPolicy<
                    v1::RateLimiter::Service>>>>>;

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_RPC_SERVICES_H_
