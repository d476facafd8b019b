#include "server/net/tcp_probe.h"

#include <linux/sockios.h>
#include <linux/tcp.h>  // the C library's tcp_info ends before the byte counts
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstddef>

namespace tollgate::net {
namespace {

constexpr uint8_t kEstablished = 1;  // TCP_ESTABLISHED, an enumerator elsewhere

}  // namespace

std::optional<TcpSample> ProbeTcp(int fd) {
  // Before what was received, so that what arrives between the two counts as
  // read: a little too much for one look, and never too little.
  int unread = 0;
  int pending = 0;
  if (::ioctl(fd, SIOCINQ, &unread) != 0 ||
      ::ioctl(fd, SIOCOUTQ, &pending) != 0) {
    return std::nullopt;
  }
  tcp_info info{};
  socklen_t size = sizeof(info);
  constexpr size_t kNeeded =
      offsetof(tcp_info, tcpi_bytes_received) + sizeof(uint64_t);
  if (::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0 ||
      size < kNeeded || info.tcpi_state != kEstablished) {
    return std::nullopt;
  }
  const uint64_t received = info.tcpi_bytes_received;
  const uint64_t waiting = std::min(received, static_cast<uint64_t>(unread));
  return TcpSample{.read = received - waiting,
                   .unread = waiting,
                   .acked = info.tcpi_bytes_acked,
                   .pending = static_cast<uint64_t>(pending)};
}

}  // namespace tollgate::net
