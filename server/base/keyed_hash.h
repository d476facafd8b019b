#ifndef TOLLGATE_SERVER_BASE_KEYED_HASH_H_
#define TOLLGATE_SERVER_BASE_KEYED_HASH_H_

#include <array>
#include <cstdint>
#include <utility>

#include "absl/strings/string_view.h"

namespace tollgate {

// The secret of a keyed hash. Whoever does not know it can neither forge a
// collision nor aim at a stripe.
struct HashKey {
  std::array<unsigned char, 16> bytes{};
};

// A 128-bit keyed hash, used as an identity: two different inputs meet with
// probability 2^-128 for each pair.
struct Fingerprint {
  uint64_t hi = 0;
  uint64_t lo = 0;

  friend bool operator==(const Fingerprint&, const Fingerprint&) = default;
  template <typename H>
  friend H AbslHashValue(H state, const Fingerprint& f) {
    return H::combine(std::move(state), f.hi, f.lo);
  }
};

// A key from the operating system's random source. Thread-safe.
[[nodiscard]] HashKey RandomHashKey();

// SipHash-2-4 with 128 bits of output, as libsodium implements it. Any bytes,
// also none. Thread-safe.
[[nodiscard]] Fingerprint KeyedHash(const HashKey& key, absl::string_view data);

// A key of its own for `data`, so that what is hashed with it never meets what
// is hashed with `key` or with the key of other data. Thread-safe.
[[nodiscard]] HashKey DeriveHashKey(const HashKey& key, absl::string_view data);

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_BASE_KEYED_HASH_H_
