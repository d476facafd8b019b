#ifndef TOLLGATE_SERVER_RPC_ASYNC_RPC_SERVER_H_
#define TOLLGATE_SERVER_RPC_ASYNC_RPC_SERVER_H_

#include <memory>

#include "server/base/clock.h"
#include "server/rpc/handlers.h"
#include "server/rpc/rpc_server.h"

namespace tollgate {

// The server model of MakeRpcServer with other handlers: what tests/bench
// compares a decision with is the same server whose handler answers nothing.
// `options.rules_in_force` must not be null.
[[nodiscard]] std::unique_ptr<RpcServer> MakeAsyncRpcServer(
    RpcServerOptions options, HandlersFactory make_handlers,
    const Clock& limiter_clock, const Clock& steady_clock,
    RpcObserver& observer);

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_RPC_ASYNC_RPC_SERVER_H_
