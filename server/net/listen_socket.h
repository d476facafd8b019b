#ifndef TOLLGATE_SERVER_NET_LISTEN_SOCKET_H_
#define TOLLGATE_SERVER_NET_LISTEN_SOCKET_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tollgate {

struct ListenSocket {
  int fd = -1;  // non-blocking; whoever holds it closes it
  int port = 0;
};

// A socket that listens on `address`, HOST:PORT or [IPV6]:PORT, where port 0
// takes a free one. UNAVAILABLE, naming the address and what was to be served
// there (such as "HTTP"), if it cannot.
[[nodiscard]] absl::StatusOr<ListenSocket> ListenOn(absl::string_view address,
                                                    absl::string_view what);

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_NET_LISTEN_SOCKET_H_
