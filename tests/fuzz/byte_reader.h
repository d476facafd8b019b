#ifndef TOLLGATE_TESTS_FUZZ_BYTE_READER_H_
#define TOLLGATE_TESTS_FUZZ_BYTE_READER_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace tollgate {

// Makes choices of a fuzzer's bytes. Once they are used up, every choice is the
// first. Thread-compatible.
class ByteReader {
 public:
  explicit ByteReader(absl::Span<const uint8_t> bytes) : bytes_(bytes) {}

  [[nodiscard]] bool done() const { return bytes_.empty(); }

  // 0 to n - 1; n at most 256.
  size_t Below(size_t n) { return n == 0 ? 0 : Byte() % n; }
  bool OneIn(size_t n) { return Byte() % n == n - 1; }
  uint64_t Word() {
    uint64_t word = 0;
    for (int i = 0; i < 8; ++i) word = word << 8 | Byte();
    return word;
  }
  // Up to `max` bytes as they are.
  std::string Raw(size_t max) {
    std::string raw;
    for (size_t n = Below(max + 1); n > 0 && !done(); --n) {
      raw.push_back(static_cast<char>(Byte()));
    }
    return raw;
  }
  template <size_t kSize>
  absl::string_view One(const absl::string_view (&choices)[kSize]) {
    return choices[Below(kSize)];
  }

 private:
  uint8_t Byte() {
    if (bytes_.empty()) return 0;
    const uint8_t byte = bytes_.front();
    bytes_.remove_prefix(1);
    return byte;
  }

  absl::Span<const uint8_t> bytes_;
};

}  // namespace tollgate

#endif  // TOLLGATE_TESTS_FUZZ_BYTE_READER_H_
