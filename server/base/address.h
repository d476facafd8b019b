#ifndef TOLLGATE_SERVER_BASE_ADDRESS_H_
#define TOLLGATE_SERVER_BASE_ADDRESS_H_

#include <string>

#include "absl/strings/string_view.h"

namespace tollgate {

// An IP network: an address with all but its leading bits cleared, in one
// canonical form. An IPv4 address mapped into IPv6 (::ffff:0:0/96, RFC 4291) or
// translated by NAT64 (64:ff9b::/96, RFC 6052) is the IPv4 address. A plain
// value of fixed size.
struct Network {
  bool is_v4 = false;
  unsigned char prefix_bits = 0;
  unsigned char bytes[16] = {};  // network order; IPv4 uses the first four

  // Its bytes as a bucket key: family, prefix, address.
  [[nodiscard]] absl::string_view AsKey() const {
    return {reinterpret_cast<const char*>(this), sizeof(*this)};
  }
  // Such as "192.0.2.0/24".
  [[nodiscard]] std::string ToString() const;
};
static_assert(sizeof(Network) == 18);

// The network of the address `text` (IPv4 or IPv6, compressed or not, no zone,
// no port): the leading `v4_bits` (0 to 32) or `v6_bits` (0 to 128) of it.
// False, with `network` untouched, if `text` is no address. Thread-safe.
[[nodiscard]] bool ParseNetwork(absl::string_view text, int v4_bits,
                                int v6_bits, Network& network);

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_BASE_ADDRESS_H_
