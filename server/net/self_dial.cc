#include "server/net/self_dial.h"

#include <errno.h>  // NOLINT(modernize-deprecated-headers): with the others
#include <netinet/in.h>
#include <poll.h>
#include <unistd.h>

#include <cstdint>

namespace tollgate::net {
namespace {

// The same family's, or this machine's if it is the wildcard.
sockaddr_storage Reachable(sockaddr_storage address) {
  if (address.ss_family == AF_INET) {
    auto& v4 = reinterpret_cast<sockaddr_in&>(address);
    if (v4.sin_addr.s_addr == htonl(INADDR_ANY)) {
      v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    }
  } else {
    auto& v6 = reinterpret_cast<sockaddr_in6&>(address);
    if (IN6_IS_ADDR_UNSPECIFIED(&v6.sin6_addr)) v6.sin6_addr = in6addr_loopback;
  }
  return address;
}

Dialled Dial(int fd, const sockaddr_storage& to, absl::Duration timeout,
             const std::function<void(const sockaddr_storage&)>& announce) {
  const auto* const generic = reinterpret_cast<const sockaddr*>(&to);
  const socklen_t size =
      to.ss_family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
  // From the address that it dials, at a port to be told.
  sockaddr_storage from = to;
  if (to.ss_family == AF_INET) {
    reinterpret_cast<sockaddr_in&>(from).sin_port = 0;
  } else {
    reinterpret_cast<sockaddr_in6&>(from).sin6_port = 0;
  }
  socklen_t from_size = size;
  if (::bind(fd, reinterpret_cast<const sockaddr*>(&from), size) != 0 ||
      ::getsockname(fd, reinterpret_cast<sockaddr*>(&from), &from_size) != 0) {
    return Dialled::kCannot;
  }
  announce(from);
  if (::connect(fd, generic, size) != 0 && errno != EINPROGRESS) {
    return Dialled::kSilence;
  }
  pollfd wait{.fd = fd, .events = POLLIN | POLLRDHUP, .revents = 0};
  const auto timeout_ms = static_cast<int>(absl::ToInt64Milliseconds(timeout));
  if (::poll(&wait, 1, timeout_ms) != 1) return Dialled::kSilence;
  int error = 0;
  socklen_t error_size = sizeof(error);
  ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &error_size);
  return error == ECONNREFUSED ? Dialled::kSilence : Dialled::kClosed;
}

}  // namespace

Dialled DialUntilClosed(
    const sockaddr_storage& listening, absl::Duration timeout,
    const std::function<void(const sockaddr_storage& from)>& announce) {
  const int fd = ::socket(listening.ss_family,
                          SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return Dialled::kCannot;
  const Dialled dialled = Dial(fd, Reachable(listening), timeout, announce);
  ::close(fd);
  return dialled;
}

}  // namespace tollgate::net
