#include "server/rules/limit_text.h"

#include <cstdint>
#include <string>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "server/rules/duration_text.h"
#include "server/rules/quote.h"

namespace tollgate {
namespace {

constexpr absl::string_view kForm =
    "tokens/period, such as 10/second, 100/5m or 1/600ms";
constexpr uint64_t kMaxTokens = 0xFFFFFFFF;

absl::Status Wanted(absl::string_view text, absl::string_view want) {
  return absl::InvalidArgumentError(
      absl::StrCat("got ", Quote(text), ", want ", want));
}

bool IsDigits(absl::string_view text) {
  return !text.empty() && absl::c_all_of(text, absl::ascii_isdigit);
}

// Digits, and 2^64-1 for all that is above it.
uint64_t Saturated(absl::string_view digits) {
  uint64_t value = 0;
  return absl::SimpleAtoi(digits, &value) ? value : UINT64_MAX;
}

absl::StatusOr<uint64_t> ParseTokens(absl::string_view text,
                                     absl::string_view tokens) {
  if (!IsDigits(tokens)) {
    return Wanted(text, absl::StrCat("a whole number of tokens, 1 to ",
                                     kMaxTokens, ", not ", Quote(tokens)));
  }
  const uint64_t value = Saturated(tokens);
  if (value == 0) return Wanted(text, "at least 1 token");
  if (value > kMaxTokens) {
    return Wanted(text, absl::StrCat("at most ", kMaxTokens, " tokens"));
  }
  return value;
}

}  // namespace

absl::StatusOr<Limit> ParseLimit(absl::string_view text) {
  const size_t slash = text.find('/');
  if (slash == absl::string_view::npos) {
    const absl::string_view bare = absl::StripAsciiWhitespace(text);
    // The commonest slip: a number alone. The answer shows it put right.
    return Wanted(text,
                  IsDigits(bare) && bare.size() <= 10
                      ? absl::StrCat("tokens/period, such as ", bare, "/second")
                      : std::string(kForm));
  }
  const absl::string_view tokens =
      absl::StripAsciiWhitespace(text.substr(0, slash));
  const absl::string_view period =
      absl::StripAsciiWhitespace(text.substr(slash + 1));
  if (tokens.empty() || period.empty()) return Wanted(text, kForm);
  const absl::StatusOr<uint64_t> count = ParseTokens(text, tokens);
  if (!count.ok()) return count.status();
  const absl::StatusOr<absl::Duration> length = ParsePeriod(text, period);
  if (!length.ok()) return length.status();
  return Limit::Create(*count, *length);
}

}  // namespace tollgate
