#include "server/base/digest.h"

#include <sodium.h>

#include <array>

#include "absl/strings/escaping.h"

namespace tollgate {

std::string Digest(absl::string_view data) {
  std::array<unsigned char, crypto_generichash_BYTES_MIN> bytes;
  crypto_generichash(bytes.data(), bytes.size(),
                     reinterpret_cast<const unsigned char*>(data.data()),
                     data.size(), nullptr, 0);
  return absl::BytesToHexString(absl::string_view(
      reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

}  // namespace tollgate
