#include "server/http/query.h"

#include <cstddef>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace tollgate {
namespace {

// -1 if `c` is no hexadecimal digit.
int DigitOf(char c) {
  if (absl::ascii_isdigit(static_cast<unsigned char>(c))) return c - '0';
  const char lower = absl::ascii_tolower(static_cast<unsigned char>(c));
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

std::optional<std::string> Decode(absl::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      if (i + 2 >= text.size()) return std::nullopt;
      const int high = DigitOf(text[i + 1]);
      const int low = DigitOf(text[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      out += static_cast<char>(high * 16 + low);
      i += 2;
    } else {
      out += text[i] == '+' ? ' ' : text[i];
    }
  }
  return out;
}

}  // namespace

absl::StatusOr<std::vector<std::pair<std::string, std::string>>> ParseQuery(
    absl::string_view query) {
  std::vector<std::pair<std::string, std::string>> parameters;
  int place = 0;
  for (const absl::string_view piece : absl::StrSplit(query, '&')) {
    ++place;
    if (piece.empty()) continue;
    const size_t equals = piece.find('=');
    std::optional<std::string> key = Decode(piece.substr(0, equals));
    std::optional<std::string> value = Decode(
        equals == absl::string_view::npos ? "" : piece.substr(equals + 1));
    if (!key.has_value() || !value.has_value()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "parameter ", place,
          ": got a % without two hexadecimal digits, want %25 for a %"));
    }
    parameters.emplace_back(*std::move(key), *std::move(value));
  }
  return parameters;
}

}  // namespace tollgate
