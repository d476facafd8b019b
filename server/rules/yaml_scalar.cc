#include "server/rules/yaml_scalar.h"

#include <array>
#include <charconv>
#include <limits>
#include <string>
#include <system_error>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"

namespace tollgate {
namespace {

using Type = YamlScalar::Type;

constexpr std::array<absl::string_view, 11> kTrue = {
    "y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"};
constexpr std::array<absl::string_view, 11> kFalse = {
    "n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"};

// The digits' number in the base that their prefix says; false if they are
// none or too many for 64 bits.
bool ParseDigits(absl::string_view digits, uint64_t* number) {
  int base = 10;
  if (absl::ConsumePrefix(&digits, "0x") ||
      absl::ConsumePrefix(&digits, "0X")) {
    base = 16;
  } else if (absl::ConsumePrefix(&digits, "0b") ||
             absl::ConsumePrefix(&digits, "0B")) {
    base = 2;
  } else if (absl::ConsumePrefix(&digits, "0o") ||
             absl::ConsumePrefix(&digits, "0O")) {
    base = 8;
  } else if (digits.size() > 1 && digits[0] == '0') {
    base = 8;
  }
  const char* const end = digits.data() + digits.size();
  const auto [last, error] = std::from_chars(digits.data(), end, *number, base);
  return error == std::errc() && last == end && !digits.empty();
}

bool ResolveInt(absl::string_view text, YamlScalar& out) {
  const bool negative = absl::ConsumePrefix(&text, "-");
  if (!negative) absl::ConsumePrefix(&text, "+");
  uint64_t number = 0;
  if (text.empty() || !absl::ascii_isdigit(text[0]) ||
      !ParseDigits(text, &number)) {
    return false;
  }
  constexpr uint64_t kMax = std::numeric_limits<int64_t>::max();
  if (negative) {
    if (number > kMax + 1) return false;
    out.integer = static_cast<int64_t>(~number + 1);
  } else if (number > kMax) {
    out.type = Type::kLargeInt;
    out.floating = static_cast<double>(number);
    return true;
  } else {
    out.integer = static_cast<int64_t>(number);
  }
  out.type = Type::kInt;
  return true;
}

// [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?
bool LooksLikeFloat(absl::string_view text) {
  const auto digits = [&] {
    size_t count = 0;
    while (count < text.size() && absl::ascii_isdigit(text[count])) ++count;
    text.remove_prefix(count);
    return count;
  };
  const auto sign = [&] {
    if (!absl::ConsumePrefix(&text, "-")) absl::ConsumePrefix(&text, "+");
  };
  sign();
  const size_t whole = digits();
  if (absl::ConsumePrefix(&text, ".")) {
    if (digits() == 0 && whole == 0) return false;
  } else if (whole == 0) {
    return false;
  }
  if (absl::ConsumePrefix(&text, "e") || absl::ConsumePrefix(&text, "E")) {
    sign();
    if (digits() == 0) return false;
  }
  return text.empty();
}

bool ResolveFloat(absl::string_view text, YamlScalar& out) {
  absl::string_view word = text;
  if (!absl::ConsumePrefix(&word, "-")) absl::ConsumePrefix(&word, "+");
  out.type = Type::kFloat;
  if (word == ".inf" || word == ".Inf" || word == ".INF") {
    out.floating = std::numeric_limits<double>::infinity();
    if (text[0] == '-') out.floating = -out.floating;
    return true;
  }
  if (text == ".nan" || text == ".NaN" || text == ".NAN") {
    out.floating = std::numeric_limits<double>::quiet_NaN();
    return true;
  }
  return LooksLikeFloat(text) && absl::SimpleAtod(text, &out.floating);
}

}  // namespace

YamlScalar ResolveScalar(const YamlNode& node) {
  YamlScalar scalar;
  if (node.kind == YamlNode::Kind::kNull) {
    scalar.type = Type::kNull;
    return scalar;
  }
  if (!node.plain) return scalar;
  scalar.boolean = absl::c_linear_search(kTrue, node.text);
  if (scalar.boolean || absl::c_linear_search(kFalse, node.text)) {
    scalar.type = Type::kBool;
    return scalar;
  }
  const std::string digits = absl::StrReplaceAll(node.text, {{"_", ""}});
  if (ResolveInt(digits, scalar) || ResolveFloat(digits, scalar)) return scalar;
  return YamlScalar();
}

absl::string_view YamlTag(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::kList:
      return "!!seq";
    case YamlNode::Kind::kMap:
      return "!!map";
    default:
      break;
  }
  switch (ResolveScalar(node).type) {
    case Type::kNull:
      return "!!null";
    case Type::kBool:
      return "!!bool";
    case Type::kInt:
    case Type::kLargeInt:
      return "!!int";
    case Type::kFloat:
      return "!!float";
    case Type::kText:
      break;
  }
  return "!!str";
}

}  // namespace tollgate
