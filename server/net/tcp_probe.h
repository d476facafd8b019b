#ifndef TOLLGATE_SERVER_NET_TCP_PROBE_H_
#define TOLLGATE_SERVER_NET_TCP_PROBE_H_

#include <cstdint>
#include <optional>

namespace tollgate::net {

// What the kernel knows of a connection, in bytes since it was made. A plain
// value.
struct TcpSample {
  uint64_t read = 0;     // received, and read by the process
  uint64_t unread = 0;   // received, and not read yet
  uint64_t acked = 0;    // sent, and acknowledged by the peer
  uint64_t pending = 0;  // written by the process and not acknowledged yet
};

// None if `fd` is no connection that is open both ways. Thread-safe.
[[nodiscard]] std::optional<TcpSample> ProbeTcp(int fd);

}  // namespace tollgate::net

#endif  // TOLLGATE_SERVER_NET_TCP_PROBE_H_
