#include "server/rpc/rpc_server.h"

#include <memory>
#include <utility>

#include "server/rpc/async_rpc_server.h"
#include "server/rpc/rate_limiter_handler.h"

namespace tollgate {

std::unique_ptr<RpcServer> MakeRpcServer(RpcServerOptions options,
                                         Limiter& limiter,
                                         const Clock& limiter_clock,
                                         const Clock& steady_clock,
                                         RpcObserver& observer) {
  return MakeAsyncRpcServer(
      std::move(options),
      [&limiter, &observer] {
        return std::make_unique<RateLimiterHandler>(limiter, observer);
      },
      limiter_clock, steady_clock, observer);
}

}  // namespace tollgate
