#include "server/net/descriptors.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

namespace tollgate::net {
namespace {

// Descriptors that connections leave to the rest of the process.
constexpr int kReservedFds = 64;

}  // namespace

int AffordableConnections(int max_connections) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 ||
      limit.rlim_cur == RLIM_INFINITY) {
    return max_connections;
  }
  const auto room =
      static_cast<int64_t>(std::min<rlim_t>(limit.rlim_cur, rlim_t{1} << 30));
  const auto affordable =
      static_cast<int>(std::max<int64_t>(1, (room - kReservedFds) / 2));
  return max_connections == 0 ? affordable
                              : std::min(max_connections, affordable);
}

int OpenSpare() { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); }

void CloseWithReset(int fd) {
  const linger none{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof(none));
  ::close(fd);
}

}  // namespace tollgate::net
