#include "server/rpc/call_context.h"

#include <string>

#include "server/rpc/rpc_server.h"

namespace tollgate {

int64_t SteadyDeadlineNs(const gpr_timespec& deadline) {
  constexpr int64_t kSecondNs = 1'000'000'000;
  // Infinity, and anything that does not fit, is no deadline.
  if (deadline.tv_sec >= kNoDeadline / kSecondNs) return kNoDeadline;
  if (deadline.tv_sec < 0) return 0;
  return deadline.tv_sec * kSecondNs + deadline.tv_nsec;
}

grpc::Status ToGrpcStatus(const absl::Status& status) {
  // absl::StatusCode and grpc::StatusCode are the same numbers.
  return {static_cast<grpc::StatusCode>(status.code()),
          std::string(status.message())};
}

void CreditPeer(const grpc::ServerContextBase& context, size_t message_bytes,
                net::PeerLedger::Page& peers) {
  peers.Credit(context.peer(), kCallBytes + message_bytes);
}

}  // namespace tollgate
