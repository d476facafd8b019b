#ifndef TOLLGATE_SERVER_LIMITER_PATTERN_H_
#define TOLLGATE_SERVER_LIMITER_PATTERN_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace tollgate {

// What an entry's value must be: a text, or a text with `*` for any characters,
// also none. Compared byte by byte. Immutable value.
class Pattern {
 public:
  // Exactly `text`, also where it has a `*`.
  static Pattern Exact(absl::string_view text);
  // `text` with each `*` as a wildcard.
  static Pattern Parse(absl::string_view text);

  [[nodiscard]] bool Matches(absl::string_view value) const;
  [[nodiscard]] bool is_exact() const { return parts_.size() == 1; }
  // The text before the first wildcard; all of it in an exact pattern.
  [[nodiscard]] const std::string& prefix() const { return parts_[0]; }
  // The text after the last wildcard; all of it in an exact pattern.
  [[nodiscard]] const std::string& suffix() const { return parts_.back(); }
  // As Parse takes it.
  [[nodiscard]] std::string ToString() const;

  friend bool operator==(const Pattern&, const Pattern&) = default;

 private:
  explicit Pattern(std::vector<std::string> parts) : parts_(std::move(parts)) {}

  std::vector<std::string> parts_;  // between the wildcards; at least one
};

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_LIMITER_PATTERN_H_
