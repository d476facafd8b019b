#ifndef TOLLGATE_SERVER_RPC_TLS_H_
#define TOLLGATE_SERVER_RPC_TLS_H_

#include <memory>
#include <optional>

#include "grpcpp/security/server_credentials.h"
#include "server/rpc/rpc_server.h"

namespace tollgate {

// TLS with those files, which are looked at again every second: what is in them
// then holds for the handshakes that follow. Without files, plain text. The
// caller has checked the files, since the library only logs what is wrong with
// them and then fails each handshake. Never null.
[[nodiscard]] std::shared_ptr<grpc::ServerCredentials> MakeCredentials(
    const std::optional<TlsFiles>& files);

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_RPC_TLS_H_
