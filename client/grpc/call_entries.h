#ifndef TOLLGATE_CLIENT_GRPC_CALL_ENTRIES_H_
#define TOLLGATE_CLIENT_GRPC_CALL_ENTRIES_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "client/request.h"
#include "grpcpp/server_context.h"

namespace tollgate::client {

// The address of a gRPC peer (ServerContext::peer), without port and zone:
// "192.0.2.1" of "ipv4:192.0.2.1:5000", "2001:db8::1" of
// "ipv6:%5B2001:db8::1%5D:5000" or with its brackets as they are. Nothing for
// other kinds of peers, such as unix sockets.
[[nodiscard]] std::optional<std::string> PeerAddress(absl::string_view peer);

// The first value of a metadata key (lower case) of the call, as a descriptor's
// value may be: bytes that are not printable ASCII, and '%', become %XX, and it
// is cut to 4096 bytes. So nobody escapes a limit by sending bytes that a
// request cannot hold. Nothing if the call has no such key.
[[nodiscard]] std::optional<std::string> MetadataValue(
    const grpc::ServerContextBase& context, const std::string& key);

}  // namespace tollgate::client

#endif  // TOLLGATE_CLIENT_GRPC_CALL_ENTRIES_H_
