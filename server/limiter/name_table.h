#ifndef TOLLGATE_SERVER_LIMITER_NAME_TABLE_H_
#define TOLLGATE_SERVER_LIMITER_NAME_TABLE_H_

#include <algorithm>
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
    const auto [it, is_new] =
        numbers_.try_emplace(name, static_cast<uint32_t>(numbers_.size()));
    if (is_new) few_.push_back({name.size(), FirstWord(name), it->first});
    return it->second;
  }

  // The number of `name`, or kNone.
  [[nodiscard]] uint32_t Find(absl::string_view name) const {
    if (few_.size() > kFew) {
      const auto it = numbers_.find(name);
      return it == numbers_.end() ? kNone : it->second;
    }
    const uint64_t word = FirstWord(name);
    for (uint32_t i = 0; i < few_.size(); ++i) {
      const Name& have = few_[i];
      if (have.size == name.size() && have.first_word == word &&
          (name.size() <= sizeof(word) || have.text == name)) {
        return i;
      }
    }
    return kNone;
  }

  [[nodiscard]] uint32_t size() const {
    return static_cast<uint32_t>(numbers_.size());
  }

 private:
  static constexpr size_t kFew = 8;
  struct Name {
    size_t size;
    uint64_t first_word;
    std::string text;
  };

  // The first eight bytes, padded with zeros.
  static uint64_t FirstWord(absl::string_view name) {
    uint64_t word = 0;
    if (name.size() >= sizeof(word)) {
      std::memcpy(&word, name.data(), sizeof(word));
    } else {
      for (size_t i = 0; i < name.size(); ++i) {
        word |= uint64_t{static_cast<unsigned char>(name[i])} << (8 * i);
      }
    }
    return word;
  }

  absl::flat_hash_map<std::string, uint32_t> numbers_;
  std::vector<Name> few_;  // all of them, in order; searched while few
};

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_LIMITER_NAME_TABLE_H_
