#ifndef TOLLGATE_CLIENT_CHANNEL_H_
#define TOLLGATE_CLIENT_CHANNEL_H_

#include <memory>

#include "client/grpc_transport.h"
#include "grpcpp/channel.h"

namespace tollgate::client {

// The channel of one client: its own connections, whose pauses, pings and
// encryption `options` say.
[[nodiscard]] std::shared_ptr<grpc::Channel> MakeChannel(
    const GrpcTransportOptions& options);

}  // namespace tollgate::client

#endif  // TOLLGATE_CLIENT_CHANNEL_H_
