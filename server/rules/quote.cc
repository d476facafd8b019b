#include "server/rules/quote.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace tollgate {
namespace {

constexpr size_t kMaxShownBytes = 64;
constexpr size_t kMaxEdits = 2;

bool IsContinuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

// Levenshtein's, one row at a time.
size_t EditDistance(absl::string_view a, absl::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string Clip(absl::string_view text) {
  size_t end = text.size();
  if (end > kMaxShownBytes) {
    end = kMaxShownBytes;
    while (end > 0 && IsContinuation(text[end])) --end;
  }
  std::string shown = absl::StrReplaceAll(
      absl::Utf8SafeCEscape(text.substr(0, end)), {{"\\'", "'"}});
  if (end < text.size()) shown += "...";
  return shown;
}

std::string Quote(absl::string_view text) {
  return absl::StrCat("\"", Clip(text), "\"");
}

std::optional<absl::string_view> ClosestName(
    absl::string_view text, absl::Span<const absl::string_view> names) {
  std::optional<absl::string_view> closest;
  size_t fewest = kMaxEdits + 1;
  for (const absl::string_view name : names) {
    // Also keeps the cost of a megabyte-long name at nothing.
    if (text.size() > name.size() + kMaxEdits) continue;
    const size_t edits = EditDistance(text, name);
    if (edits < fewest && edits < name.size()) {
      fewest = edits;
      closest = name;
    }
  }
  return closest;
}

std::string DidYouMean(absl::string_view text,
                       absl::Span<const absl::string_view> names) {
  const std::optional<absl::string_view> closest = ClosestName(text, names);
  if (!closest.has_value()) return "";
  return absl::StrCat("; did you mean \"", *closest, "\"?");
}

}  // namespace tollgate
