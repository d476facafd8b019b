#ifndef TOLLGATE_CLIENT_GRPC_REFUSAL_STATUS_H_
#define TOLLGATE_CLIENT_GRPC_REFUSAL_STATUS_H_

#include "client/decision.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/status.h"

namespace tollgate::client {

// What a gRPC service answers a call that was refused: RESOURCE_EXHAUSTED, with
// a google.rpc.RetryInfo in its details that says how long to wait, exactly. An
// impossible one has no RetryInfo: waiting never helps. OK if `decision`
// allows.
[[nodiscard]] grpc::Status RefusalStatus(const Decision& decision);

// Adds the trailing metadata grpc-retry-pushback-ms, by which gRPC clients with
// a retry policy wait that long (rounded up), or do not try again where waiting
// never helps. Nothing if `decision` allows. Before the call finishes.
void AddPushback(const Decision& decision, grpc::ServerContextBase& context);

}  // namespace tollgate::client

#endif  // TOLLGATE_CLIENT_GRPC_REFUSAL_STATUS_H_
