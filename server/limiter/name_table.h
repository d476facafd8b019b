#ifndef TOLLGATE_SERVER_LIMITER_NAME_TABLE_H_
#define TOLLGATE_SERVER_LIMITER_NAME_TABLE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

namespace tollgate {

// Numbers names 0, 1, 2, ... in the order they are added. A table of few names,
// as rule files have them, is searched by comparing one word each; a large one
// by hash. Thread-compatible.
class NameTable {
 public:
  static constexpr uint32_t kNone = 0xFFFFFFFF;

  // The number of `name`, added if it is not there.
  uint32_t Add(absl::string_view name) {
    const uint32_t next = size();
    const auto [it, is_new] = numbers_.try_emplace(name, next);
    if (is_new && next < kFew) {
      few_[next] = {FirstWord(name), name.size()};
      texts_.emplace_back(name);
    }
    return it->second;
  }

  // The number of `name`, or kNone.
  [[nodiscard]] uint32_t Find(absl::string_view name) const {
    const uint32_t count = size();
    if (count > kFew) {
      const auto it = numbers_.find(name);
      return it == numbers_.end() ? kNone : it->second;
    }
    const uint64_t word = FirstWord(name);
    for (uint32_t i = 0; i < count; ++i) {
      if (few_[i].first_word == word && few_[i].size == name.size() &&
          (name.size() <= sizeof(word) || texts_[i] == name)) {
        return i;
      }
    }
    return kNone;
  }

  [[nodiscard]] uint32_t size() const {
    return static_cast<uint32_t>(numbers_.size());
  }

 private:
  static constexpr uint32_t kFew = 8;
  struct Name {
    uint64_t first_word = 0;
    size_t size = 0;
  };

  // The first eight bytes, padded with zeros. Short names are read in two or
  // three pieces that may overlap, which is quicker than byte by byte.
  static uint64_t FirstWord(absl::string_view name) {
    const size_t size = name.size();
    if (size >= sizeof(uint64_t)) return Load<uint64_t>(name.data());
    if (size >= sizeof(uint32_t)) {
      const size_t last = size - sizeof(uint32_t);
      return Load<uint32_t>(name.data()) |
             uint64_t{Load<uint32_t>(name.data() + last)} << (8 * last);
    }
    if (size == 0) return 0;
    const size_t middle = size / 2;
    return Load<uint8_t>(name.data()) |
           uint64_t{Load<uint8_t>(name.data() + middle)} << (8 * middle) |
           uint64_t{Load<uint8_t>(name.data() + size - 1)} << (8 * (size - 1));
  }
  template <typename Word>
  static Word Load(const char* from) {
    Word word;
    std::memcpy(&word, from, sizeof(word));
    return word;
  }

  absl::flat_hash_map<std::string, uint32_t> numbers_;
  std::array<Name, kFew> few_;      // the first names, searched while few
  std::vector<std::string> texts_;  // of few_
};

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_LIMITER_NAME_TABLE_H_
