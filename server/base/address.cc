#include "server/base/address.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace tollgate {
namespace {

constexpr unsigned char kMapped[12] = {0, 0, 0, 0, 0,    0,
                                       0, 0, 0, 0, 0xFF, 0xFF};
constexpr unsigned char kNat64[12] = {0, 0x64, 0xFF, 0x9B, 0, 0,
                                      0, 0,    0,    0,    0, 0};

// Clears all but the leading `bits` of `size` bytes.
void KeepLeading(unsigned char* bytes, int size, int bits) {
  for (int i = 0; i < size; ++i) {
    const int keep = std::clamp(bits - 8 * i, 0, 8);
    bytes[i] = static_cast<unsigned char>(bytes[i] & (0xFF00 >> keep));
  }
}

}  // namespace

bool ParseNetwork(absl::string_view text, int v4_bits, int v6_bits,
                  Network& network) {
  char terminated[INET6_ADDRSTRLEN];
  if (text.size() >= sizeof(terminated) ||
      text.find('\0') != absl::string_view::npos) {
    return false;
  }
  text.copy(terminated, text.size());
  terminated[text.size()] = '\0';
  Network parsed;
  parsed.is_v4 = inet_pton(AF_INET, terminated, parsed.bytes) == 1;
  if (!parsed.is_v4) {
    if (inet_pton(AF_INET6, terminated, parsed.bytes) != 1) return false;
    if (std::memcmp(parsed.bytes, kMapped, sizeof(kMapped)) == 0 ||
        std::memcmp(parsed.bytes, kNat64, sizeof(kNat64)) == 0) {
      std::memmove(parsed.bytes, parsed.bytes + 12, 4);
      std::memset(parsed.bytes + 4, 0, 12);
      parsed.is_v4 = true;
    }
  }
  const int bits = parsed.is_v4 ? v4_bits : v6_bits;
  KeepLeading(parsed.bytes, parsed.is_v4 ? 4 : 16, bits);
  parsed.prefix_bits = static_cast<unsigned char>(bits);
  network = parsed;
  return true;
}

std::string Network::ToString() const {
  char text[INET6_ADDRSTRLEN] = {};
  inet_ntop(is_v4 ? AF_INET : AF_INET6, bytes, text, sizeof(text));
  return absl::StrCat(text, "/", static_cast<int>(prefix_bits));
}

}  // namespace tollgate
