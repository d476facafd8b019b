#ifndef TOLLGATE_CLIENT_CHANNEL_H_
#define TOLLGATE_CLIENT_CHANNEL_H_

#include <memory>
#include <optional>

#include "client/grpc_transport.h"
#include "client/tls.h"
#include "grpcpp/channel.h"
#include "grpcpp/security/credentials.h"

namespace tollgate::client {

// Plain text without `tls`. Never null.
[[nodiscard]] std::shared_ptr<grpc::ChannelCredentials> MakeCredentials(
    const std::optional<TlsOptions>& tls);

// The channel of one client: its own connections, whose pauses, pings and
// encryption `options` say.
[[nodiscard]] std::shared_ptr<grpc::Channel> MakeChannel(
    const GrpcTransportOptions& options);

}  // namespace tollgate::client

#endif  // TOLLGATE_CLIENT_CHANNEL_H_
