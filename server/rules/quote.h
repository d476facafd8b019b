#ifndef TOLLGATE_SERVER_RULES_QUOTE_H_
#define TOLLGATE_SERVER_RULES_QUOTE_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace tollgate {

// How messages show text that somebody wrote. Thread-safe.

// `text` on one line, without quotes: control characters, quotes and bytes
// that are not printable escaped, cut after 64 bytes with "...".
[[nodiscard]] std::string Clip(absl::string_view text);

// Clip() between double quotes.
[[nodiscard]] std::string Quote(absl::string_view text);

// The name that `text` was probably meant to be: the closest one that takes at
// most two insertions, deletions or replacements, and fewer than it has
// letters. The first of equals.
[[nodiscard]] std::optional<absl::string_view> ClosestName(
    absl::string_view text, absl::Span<const absl::string_view> names);

// `; did you mean "limit"?` for the closest name, or nothing.
[[nodiscard]] std::string DidYouMean(absl::string_view text,
                                     absl::Span<const absl::string_view> names);

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_RULES_QUOTE_H_
