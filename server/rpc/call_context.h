#ifndef TOLLGATE_SERVER_RPC_CALL_CONTEXT_H_
#define TOLLGATE_SERVER_RPC_CALL_CONTEXT_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "envoy/service/ratelimit/v3/rls.grpc.pb.h"
#include "grpcpp/grpcpp.h"
#include "server/net/peer_ledger.h"
#include "server/rpc/access.h"
#include "server/rpc/admission.h"
#include "server/rpc/handlers.h"
#include "server/rpc/health.h"
#include "server/rpc/queue_mark.h"
#include "server/rpc/services.h"

namespace tollgate {

// What is served, by all completion queues together.
struct Services {
  RateLimiterService rate_limiter;
  v1::Admin::AsyncService admin;
  envoy::service::ratelimit::v3::RateLimitService::AsyncService gateway;
  HealthCalls::Service health_calls;
  Health health;
};

// What the calls of one completion queue work with. All of it outlives them.
struct CallContext {
  Services& services;
  grpc::ServerCompletionQueue& queue;
  QueueMark& mark;  // of this queue
  Admission& admission;
  Admission& admin_admission;  // for Admin, whose calls are counted apart
  Handlers& handlers;
  net::PeerLedger::Page& peers;  // of this queue's thread
  const Access* access;          // null: everybody may call everything
};

// A deadline that gRPC states, as nanoseconds of the steady clock.
[[nodiscard]] int64_t SteadyDeadlineNs(const gpr_timespec& deadline);

[[nodiscard]] grpc::Status ToGrpcStatus(const absl::Status& status);

// Says that a call with a message of that size has begun, so that its
// connection is not taken for a flood.
void CreditPeer(const grpc::ServerContextBase& context, size_t message_bytes,
                net::PeerLedger::Page& peers);

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_RPC_CALL_CONTEXT_H_
