#include "server/net/peer.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <cstring>

#include "absl/strings/str_cat.h"

namespace tollgate::net {

Peer PeerOf(const sockaddr_storage& from) {
  Peer peer;
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (from.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(from);
    std::memcpy(peer.address.data() + 12, &v4.sin_addr, 4);
    ::inet_ntop(AF_INET, &v4.sin_addr, text.data(), text.size());
    peer.text = absl::StrCat("ipv4:", text.data(), ":", ntohs(v4.sin_port));
    return peer;
  }
  const auto& v6 = reinterpret_cast<const sockaddr_in6&>(from);
  if (IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr)) {
    std::memcpy(peer.address.data() + 12, v6.sin6_addr.s6_addr + 12, 4);
    ::inet_ntop(AF_INET, v6.sin6_addr.s6_addr + 12, text.data(), text.size());
    peer.text = absl::StrCat("ipv4:", text.data(), ":", ntohs(v6.sin6_port));
    return peer;
  }
  std::memcpy(peer.address.data(), v6.sin6_addr.s6_addr, 8);
  ::inet_ntop(AF_INET6, &v6.sin6_addr, text.data(), text.size());
  peer.text = absl::StrCat("ipv6:[", text.data(), "]:", ntohs(v6.sin6_port));
  return peer;
}

}  // namespace tollgate::net
