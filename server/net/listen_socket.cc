#include "server/net/listen_socket.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace tollgate {
namespace {

// The port of a socket that is bound; 0 if it is none of the Internet's.
int PortOf(int fd) {
  sockaddr_storage bound{};
  socklen_t size = sizeof(bound);
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&bound), &size) != 0) {
    return 0;
  }
  if (bound.ss_family == AF_INET6) {
    return ntohs(reinterpret_cast<const sockaddr_in6&>(bound).sin6_port);
  }
  return ntohs(reinterpret_cast<const sockaddr_in&>(bound).sin_port);
}

// -1 if it cannot listen there.
int Listen(const addrinfo& where) {
  const int fd = ::socket(where.ai_family,
                          where.ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK,
                          where.ai_protocol);
  if (fd < 0) return -1;
  const int on = 1;  // a restart need not wait for old connections to be gone
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (::bind(fd, where.ai_addr, where.ai_addrlen) == 0 &&
      ::listen(fd, SOMAXCONN) == 0) {
    return fd;
  }
  ::close(fd);
  return -1;
}

}  // namespace

absl::StatusOr<ListenSocket> ListenOn(absl::string_view address,
                                      absl::string_view what) {
  const absl::Status failure = absl::UnavailableError(absl::StrCat(
      "cannot listen for ", what, " on \"", address,
      "\", want a HOST:PORT of this machine that nobody listens on"));
  const size_t colon = address.rfind(':');
  if (colon == absl::string_view::npos) return failure;
  std::string host(address.substr(0, colon));
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  const std::string port(address.substr(colon + 1));
  int number = -1;
  if (!absl::SimpleAtoi(port, &number) || number < 0 ||
      number > std::numeric_limits<uint16_t>::max()) {
    return failure;
  }
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (::getaddrinfo(host.c_str(), port.c_str(), &hints, &found) != 0) {
    return failure;
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found,
                                                             ::freeaddrinfo);
  for (const addrinfo* where = found; where != nullptr;
       where = where->ai_next) {
    const int fd = Listen(*where);
    if (fd >= 0) return ListenSocket{fd, PortOf(fd)};
  }
  return failure;
}

}  // namespace tollgate
