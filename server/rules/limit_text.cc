#include "server/rules/limit_text.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "server/rules/quote.h"

namespace tollgate {
namespace {

struct Unit {
  absl::string_view name;
  absl::Duration length;
  bool is_word;  // may stand without a count
};

const std::array<Unit, 15>& Units() {
  static const std::array<Unit, 15> units = {{
      {"second", absl::Seconds(1), true},
      {"minute", absl::Minutes(1), true},
      {"hour", absl::Hours(1), true},
      {"day", absl::Hours(24), true},
      {"week", absl::Hours(24 * 7), true},
      {"month", absl::Hours(24 * 30), true},
      {"year", absl::Hours(24 * 365), true},
      {"ns", absl::Nanoseconds(1), false},
      {"us", absl::Microseconds(1), false},
      {"ms", absl::Milliseconds(1), false},
      {"s", absl::Seconds(1), false},
      {"m", absl::Minutes(1), false},
      {"h", absl::Hours(1), false},
      {"d", absl::Hours(24), false},
      {"w", absl::Hours(24 * 7), false},
  }};
  return units;
}

constexpr absl::string_view kForm =
    "tokens/period, such as 10/second, 100/5m or 1/600ms";
constexpr absl::string_view kUnits =
    "second, minute, hour, day, week, month, year, or a count of those or of "
    "ns, us, ms, s, m, h, d, w";
constexpr uint64_t kMaxTokens = 0xFFFFFFFF;
constexpr absl::Duration kMaxPeriod = absl::Hours(24 * 3650);

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

absl::string_view TakeWhile(absl::string_view& text, bool (*is)(uint8_t)) {
  size_t n = 0;
  while (n < text.size() && is(static_cast<uint8_t>(text[n]))) ++n;
  const absl::string_view taken = text.substr(0, n);
  text.remove_prefix(n);
  return taken;
}

bool IsUnitLetter(uint8_t c) { return !absl::ascii_isdigit(c); }

const Unit* FindUnit(absl::string_view name, bool has_count) {
  for (const Unit& unit : Units()) {
    if (unit.name == name && (has_count || unit.is_word)) return &unit;
  }
  return nullptr;
}

absl::Status UnknownUnit(absl::string_view text, absl::string_view unit) {
  std::vector<absl::string_view> words;
  for (const Unit& known : Units()) {
    if (known.is_word) words.push_back(known.name);
  }
  return Wanted(text, absl::StrCat("a period in ", kUnits, ", not ",
                                   Quote(unit), DidYouMean(unit, words)));
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

absl::StatusOr<absl::Duration> ParsePeriod(absl::string_view text,
                                           absl::string_view period) {
  absl::string_view rest = period;
  absl::Duration total;
  do {
    const absl::string_view count = TakeWhile(rest, absl::ascii_isdigit);
    const absl::string_view name = TakeWhile(rest, IsUnitLetter);
    if (!count.empty() && (name.empty() || name[0] == '.')) {
      return Wanted(
          text, name.empty()
                    ? absl::StrCat("a unit after ", Quote(count), ": ", kUnits)
                    : "a period in whole numbers: 1500ms, not 1.5s");
    }
    const Unit* unit = FindUnit(name, !count.empty());
    if (unit == nullptr) return UnknownUnit(text, name);
    // Durations saturate; what is over the longest period is all the same.
    total += count.empty()
                 ? unit->length
                 : unit->length * static_cast<int64_t>(std::min<uint64_t>(
                                      Saturated(count), INT64_MAX));
  } while (!rest.empty());
  if (total <= absl::ZeroDuration()) {
    return Wanted(text, "a period of at least 1ns");
  }
  if (total > kMaxPeriod) {
    return Wanted(text, "a period of at most 10 years (3650d)");
  }
  return total;
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
