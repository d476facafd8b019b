#include "server/redis/key_slot.h"

#include <array>
#include <cstdint>

namespace tollgate::redis {
namespace {

constexpr std::array<uint16_t, 256> MakeTable() {
  std::array<uint16_t, 256> table{};
  for (unsigned i = 0; i < 256; ++i) {
    unsigned crc = i << 8;
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc << 1) ^ ((crc & 0x8000) != 0 ? 0x1021U : 0U);
    }
    table[i] = static_cast<uint16_t>(crc);
  }
  return table;
}

constexpr std::array<uint16_t, 256> kTable = MakeTable();

// What is hashed of a key.
absl::string_view Hashed(absl::string_view key) {
  const size_t open = key.find('{');
  if (open == absl::string_view::npos) return key;
  const size_t close = key.find('}', open + 1);
  if (close == absl::string_view::npos || close == open + 1) return key;
  return key.substr(open + 1, close - open - 1);
}

}  // namespace

int KeySlot(absl::string_view key) {
  unsigned crc = 0;
  for (const char c : Hashed(key)) {
    crc = ((crc << 8) & 0xffff) ^
          kTable[(crc >> 8) ^ static_cast<unsigned char>(c)];
  }
  return static_cast<int>(crc % kSlots);
}

}  // namespace tollgate::redis
