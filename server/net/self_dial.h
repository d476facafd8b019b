#ifndef TOLLGATE_SERVER_NET_SELF_DIAL_H_
#define TOLLGATE_SERVER_NET_SELF_DIAL_H_

#include <sys/socket.h>

#include <functional>

#include "absl/time/time.h"

namespace tollgate::net {

enum class Dialled {
  kClosed,   // somebody took the connection and closed it
  kSilence,  // nobody did within the time
  kCannot,   // there is no descriptor or port to dial from
};

// Connects to `listening`, the address of a listening socket of this process
// (of a wildcard address, to this machine), and waits until the other side
// closes. `announce` is told where from, before it connects. Thread-safe.
[[nodiscard]] Dialled DialUntilClosed(
    const sockaddr_storage& listening, absl::Duration timeout,
    const std::function<void(const sockaddr_storage& from)>& announce);

}  // namespace tollgate::net

#endif  // TOLLGATE_SERVER_NET_SELF_DIAL_H_
