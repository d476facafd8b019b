#include "server/base/keyed_hash.h"

#include <sodium.h>

#include <cstdlib>
#include <cstring>

namespace tollgate {

static_assert(sizeof(HashKey::bytes) == crypto_shorthash_siphashx24_KEYBYTES);
static_assert(sizeof(Fingerprint) == crypto_shorthash_siphashx24_BYTES);

HashKey RandomHashKey() {
  // Fails only where the system has no random source at all: no secret, no
  // service.
  static const int ready = sodium_init();
  if (ready < 0) std::abort();
  HashKey key;
  randombytes_buf(key.bytes.data(), key.bytes.size());
  return key;
}

Fingerprint KeyedHash(const HashKey& key, absl::string_view data) {
  Fingerprint out;
  crypto_shorthash_siphashx24(
      reinterpret_cast<unsigned char*>(&out),
      reinterpret_cast<const unsigned char*>(data.data()), data.size(),
      key.bytes.data());
  return out;
}

HashKey DeriveHashKey(const HashKey& key, absl::string_view data) {
  const Fingerprint derived = KeyedHash(key, data);
  HashKey out;
  std::memcpy(out.bytes.data(), &derived, sizeof(derived));
  return out;
}

}  // namespace tollgate
