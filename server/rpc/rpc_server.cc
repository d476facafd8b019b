#include "server/rpc/rpc_server.h"

#include <memory>
#include <utility>

#include "server/rpc/admin_handler.h"
#include "server/rpc/async_rpc_server.h"
#include "server/rpc/gateway_handler.h"
#include "server/rpc/rate_limiter_handler.h"

namespace tollgate {

std::unique_ptr<RpcServer> MakeRpcServer(RpcServerOptions options,
                                         Limiter& limiter, BucketStore& store,
                                         const Clock& limiter_clock,
                                         const Clock& steady_clock,
                                         RpcObserver& observer) {
  if (options.rules_in_force == nullptr) {
    options.rules_in_force = [&limiter] {
      return RulesInForce{"", limiter.rules()};
    };
  }
  const RulesInForceFn rules_in_force = options.rules_in_force;
  const EnvoyAnswerOptions gateway = options.gateway;
  return MakeAsyncRpcServer(
      std::move(options),
      [&limiter, &store, &limiter_clock, &observer, rules_in_force, gateway] {
        return Handlers{std::make_unique<RateLimiterHandler>(
                            store, limiter_clock, observer),
                        std::make_unique<AdminHandler>(
                            limiter, store, rules_in_force, observer),
                        std::make_unique<GatewayHandler>(limiter, store,
                                                         gateway, observer)};
      },
      limiter_clock, steady_clock, observer);
}

}  // namespace tollgate
