#include "server/rules/duration_text.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
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

constexpr absl::string_view kUnits =
    "second, minute, hour, day, week, month, year, or a count of those or of "
    "ns, us, ms, s, m, h, d, w";
constexpr absl::Duration kLongest = absl::Hours(24 * 3650);

// What was read of a text, up to the first fault.
struct Scan {
  enum class Fault { kNone, kNoCount, kNoUnit, kFraction, kUnknownUnit };
  Fault fault = Fault::kNone;
  absl::string_view piece;  // what the fault is about
  absl::Duration total;
};

absl::Status Wanted(absl::string_view text, absl::string_view want) {
  return absl::InvalidArgumentError(
      absl::StrCat("got ", Quote(text), ", want ", want));
}

// Digits, and 2^63-1 for all that is above it.
int64_t Saturated(absl::string_view digits) {
  int64_t value = 0;
  return absl::SimpleAtoi(digits, &value) ? value : INT64_MAX;
}

absl::string_view TakeWhile(absl::string_view& text, bool (*is)(uint8_t)) {
  size_t n = 0;
  while (n < text.size() && is(static_cast<uint8_t>(text[n]))) ++n;
  const absl::string_view taken = text.substr(0, n);
  text.remove_prefix(n);
  return taken;
}

bool IsUnitLetter(uint8_t c) { return !absl::ascii_isdigit(c); }

const Unit* FindUnit(absl::string_view name) {
  for (const Unit& unit : Units()) {
    if (unit.name == name) return &unit;
  }
  return nullptr;
}

Scan ScanTime(absl::string_view rest) {
  Scan scan;
  const auto stop = [&scan](Scan::Fault fault, absl::string_view piece) {
    scan.fault = fault;
    scan.piece = piece;
    return scan;
  };
  const absl::string_view whole = rest;
  do {
    const absl::string_view count = TakeWhile(rest, absl::ascii_isdigit);
    const absl::string_view name = TakeWhile(rest, IsUnitLetter);
    if (!count.empty() && name.empty()) {
      return stop(Scan::Fault::kNoUnit, count);
    }
    if (!count.empty() && name[0] == '.') {
      return stop(Scan::Fault::kFraction, name);
    }
    const Unit* unit = FindUnit(name);
    const bool is_alone = count.empty() && rest.empty();
    if (unit == nullptr || (count.empty() && !(unit->is_word && is_alone))) {
      return stop(Scan::Fault::kUnknownUnit, count.empty() ? whole : name);
    }
    // Durations saturate; what is over the longest is all the same.
    if (count.empty()) {
      scan.fault = Scan::Fault::kNoCount;  // the reader knows if that is one
      scan.total = unit->length;
    } else {
      scan.total += unit->length * Saturated(count);
    }
  } while (!rest.empty());
  return scan;
}

absl::StatusOr<absl::Duration> InRange(absl::string_view text,
                                       absl::Duration total,
                                       absl::string_view what) {
  if (total <= absl::ZeroDuration()) {
    return Wanted(text, absl::StrCat("a ", what, " of at least 1ns"));
  }
  if (total > kLongest) {
    return Wanted(text,
                  absl::StrCat("a ", what, " of at most 10 years (3650d)"));
  }
  return total;
}

absl::Status UnknownUnit(absl::string_view text, absl::string_view unit) {
  std::vector<absl::string_view> words;
  for (const Unit& known : Units()) {
    if (known.is_word) words.push_back(known.name);
  }
  return Wanted(text, absl::StrCat("a period in ", kUnits, ", not ",
                                   Quote(unit), DidYouMean(unit, words)));
}

}  // namespace

absl::StatusOr<absl::Duration> ParseDuration(absl::string_view text) {
  const Scan scan = ScanTime(text);
  if (scan.fault == Scan::Fault::kFraction) {
    return Wanted(text, "a duration in whole numbers: 1500ms, not 1.5s");
  }
  if (scan.fault != Scan::Fault::kNone) return Wanted(text, kWantDuration);
  return InRange(text, scan.total, "duration");
}

absl::StatusOr<absl::Duration> ParsePeriod(absl::string_view text,
                                           absl::string_view period) {
  const Scan scan = ScanTime(period);
  switch (scan.fault) {
    case Scan::Fault::kNoUnit:
      return Wanted(
          text, absl::StrCat("a unit after ", Quote(scan.piece), ": ", kUnits));
    case Scan::Fault::kFraction:
      return Wanted(text, "a period in whole numbers: 1500ms, not 1.5s");
    case Scan::Fault::kUnknownUnit:
      return UnknownUnit(text, scan.piece);
    case Scan::Fault::kNoCount:
    case Scan::Fault::kNone:
      break;
  }
  return InRange(text, scan.total, "period");
}

}  // namespace tollgate
