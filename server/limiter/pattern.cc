#include "server/limiter/pattern.h"

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace tollgate {

Pattern Pattern::Exact(absl::string_view text) {
  return Pattern({std::string(text)});
}

Pattern Pattern::Parse(absl::string_view text) {
  return Pattern(std::vector<std::string>(absl::StrSplit(text, '*')));
}

bool Pattern::Matches(absl::string_view value) const {
  if (is_exact()) return value == parts_[0];
  const std::string& first = parts_.front();
  const std::string& last = parts_.back();
  if (value.size() < first.size() + last.size() ||
      !absl::StartsWith(value, first) || !absl::EndsWith(value, last)) {
    return false;
  }
  value.remove_prefix(first.size());
  value.remove_suffix(last.size());
  // The leftmost place of each part leaves the most for those after it.
  for (size_t i = 1; i + 1 < parts_.size(); ++i) {
    const size_t at = value.find(parts_[i]);
    if (at == absl::string_view::npos) return false;
    value.remove_prefix(at + parts_[i].size());
  }
  return true;
}

std::string Pattern::ToString() const { return absl::StrJoin(parts_, "*"); }

}  // namespace tollgate
