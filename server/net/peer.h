#ifndef TOLLGATE_SERVER_NET_PEER_H_
#define TOLLGATE_SERVER_NET_PEER_H_

#include <sys/socket.h>

#include <array>
#include <string>

namespace tollgate::net {

// An address as it counts against the limit: 16 bytes, of which a network of
// IPv6 that has one owner uses the first 8.
using Address = std::array<unsigned char, 16>;

// A peer as gRPC writes it, such as ipv4:192.0.2.1:80, and its address. A plain
// value.
struct Peer {
  std::string text;
  Address address{};
};

// `from` must be of IPv4 or IPv6. Thread-safe.
[[nodiscard]] Peer PeerOf(const sockaddr_storage& from);

}  // namespace tollgate::net

#endif  // TOLLGATE_SERVER_NET_PEER_H_
