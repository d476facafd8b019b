#include "server/base/keyed_hash.h"

#include <cstring>
#include <string>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/escaping.h"
#include "gtest/gtest.h"

namespace tollgate {
namespace {

HashKey CountingKey() {
  HashKey key;
  for (size_t i = 0; i < key.bytes.size(); ++i) {
    key.bytes[i] = static_cast<unsigned char>(i);
  }
  return key;
}

// 00 01 02 ... of that length.
std::string CountingInput(size_t length) {
  std::string input;
  for (size_t i = 0; i < length; ++i) input.push_back(static_cast<char>(i));
  return input;
}

std::string Hex(const Fingerprint& fingerprint) {
  std::string bytes(sizeof(fingerprint), '\0');
  std::memcpy(bytes.data(), &fingerprint, sizeof(fingerprint));
  return absl::BytesToHexString(bytes);
}

// The vectors of the authors' reference implementation (vectors_sip128 in
// veorq/SipHash, vectors.h): key 00..0f, input 00, 01, 02, ...
TEST(KeyedHash, MatchesTheReferenceVectorsOfSipHash24With128Bits) {
  const HashKey key = CountingKey();

  EXPECT_EQ(Hex(KeyedHash(key, CountingInput(0))),
            "a3817f04ba25a8e66df67214c7550293");
  EXPECT_EQ(Hex(KeyedHash(key, CountingInput(1))),
            "da87c1d86b99af44347659119b22fc45");
  EXPECT_EQ(Hex(KeyedHash(key, CountingInput(2))),
            "8177228da4a45dc7fca38bdef60affe4");
  EXPECT_EQ(Hex(KeyedHash(key, CountingInput(7))),
            "a1f1ebbed8dbc153c0b84aa61ff08239");
  EXPECT_EQ(Hex(KeyedHash(key, CountingInput(8))),
            "3b62a9ba6258f5610f83e264f31497b4");
  EXPECT_EQ(Hex(KeyedHash(key, CountingInput(15))),
            "5493e99933b0a8117e08ec0f97cfc3d9");
  EXPECT_EQ(Hex(KeyedHash(key, CountingInput(16))),
            "6ee2a4ca67b054bbfd3315bf85230577");
}

TEST(KeyedHash, DiffersWithTheKey) {
  HashKey other = CountingKey();
  other.bytes[15] ^= 1;

  EXPECT_EQ(KeyedHash(CountingKey(), "ana"), KeyedHash(CountingKey(), "ana"));
  EXPECT_NE(KeyedHash(CountingKey(), "ana"), KeyedHash(other, "ana"));
}

TEST(KeyedHash, TakesAnyBytes) {
  const HashKey key = CountingKey();

  EXPECT_NE(KeyedHash(key, absl::string_view("\0", 1)), KeyedHash(key, ""));
  EXPECT_NE(KeyedHash(key, absl::string_view("\0\0", 2)),
            KeyedHash(key, absl::string_view("\0", 1)));
  EXPECT_NE(KeyedHash(key, std::string(4096, 'x')),
            KeyedHash(key, std::string(4097, 'x')));
}

TEST(KeyedHash, KeepsManyInputsApart) {
  const HashKey key = RandomHashKey();
  absl::flat_hash_set<Fingerprint> seen;

  for (int i = 0; i < 100'000; ++i) {
    ASSERT_TRUE(seen.insert(KeyedHash(key, std::to_string(i))).second) << i;
  }
}

TEST(RandomHashKey, IsAnotherOneEachTime) {
  EXPECT_NE(RandomHashKey().bytes, RandomHashKey().bytes);
}

TEST(DeriveHashKey, GivesEachDataAKeyOfItsOwn) {
  const HashKey key = CountingKey();
  const HashKey a = DeriveHashKey(key, "a");
  const HashKey b = DeriveHashKey(key, "b");

  EXPECT_EQ(a.bytes, DeriveHashKey(key, "a").bytes);
  EXPECT_NE(a.bytes, b.bytes);
  EXPECT_NE(a.bytes, key.bytes);
  EXPECT_NE(KeyedHash(a, "ana"), KeyedHash(b, "ana"));
  EXPECT_NE(KeyedHash(a, "ana"), KeyedHash(key, "ana"));
}

TEST(DeriveHashKey, DiffersWithTheParent) {
  EXPECT_NE(DeriveHashKey(CountingKey(), "a").bytes,
            DeriveHashKey(RandomHashKey(), "a").bytes);
}

}  // namespace
}  // namespace tollgate
