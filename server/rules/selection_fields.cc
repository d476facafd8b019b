#include "server/rules/selection_fields.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "server/limiter/pattern.h"
#include "server/rules/quote.h"

namespace tollgate {
namespace {

constexpr absl::string_view kWantKey = "a list of entry keys, such as [user]";
constexpr absl::string_view kWantKeyPart =
    "an entry key, alternatives such as api_key | ip, or "
    "{entry: ip, prefix: {v4: 32, v6: 64}}";
constexpr absl::string_view kWantEntry =
    "one entry key, such as ip; alternatives are a list: "
    "[api_key, {entry: ip}]";
constexpr absl::string_view kWantPrefix =
    "the bits of an address that count, such as {v4: 32, v6: 64}";
constexpr absl::string_view kWantMatch =
    "a map of entry keys to values, such as {endpoint: /login}";
constexpr absl::string_view kWantValue =
    "the text to match, or \"\" for an empty value";
constexpr absl::string_view kWantValues =
    "the text to match, \"\" for an empty value, or a list of those";

void ReadV4(const FieldValue& value, AddressPrefix& prefix) {
  const auto bits = value.Count(32, 0);
  if (bits.has_value()) prefix.v4 = static_cast<int>(*bits);
}

void ReadV6(const FieldValue& value, AddressPrefix& prefix) {
  const auto bits = value.Count(128, 0);
  if (bits.has_value()) prefix.v6 = static_cast<int>(*bits);
}

constexpr std::array<FieldReader<AddressPrefix>, 2> kPrefixFields = {
    {{"v4", ReadV4}, {"v6", ReadV6}}};

void ReadPrefix(const FieldValue& value, KeySource& source) {
  source.prefix.emplace();
  ReadFields<AddressPrefix>(value, kWantPrefix, kPrefixFields, *source.prefix);
}

void ReadEntry(const FieldValue& value, KeySource& source) {
  source.entry = ReadEntryKey(value, kWantEntry).value_or("");
}

constexpr std::array<FieldReader<KeySource>, 2> kSourceFields = {
    {{"entry", ReadEntry}, {"prefix", ReadPrefix}}};

// An entry key, or a map with one and a prefix.
KeySource ReadSource(const FieldValue& value) {
  KeySource source;
  if (!value.is_map()) {
    ReadEntry(value, source);
    return source;
  }
  const std::vector<NamedValue> fields =
      ReadFields<KeySource>(value, kWantKeyPart, kSourceFields, source);
  if (FindField(fields, "entry") == nullptr) {
    value.FailMissing("entry", kWantEntry);
  }
  return source;
}

KeyPart ReadAlternatives(const FieldValue& value) {
  KeyPart part;
  if (value.is_map()) {
    part.alternatives.push_back(ReadSource(value));
    return part;
  }
  if (value.is_list()) {
    for (const FieldValue& item : value.Items(kWantKeyPart)) {
      part.alternatives.push_back(ReadSource(item));
    }
    return part;
  }
  const auto text = value.Text(kWantKeyPart);
  if (!text.has_value()) return part;
  for (const absl::string_view piece : absl::StrSplit(*text, '|')) {
    const absl::string_view entry = absl::StripAsciiWhitespace(piece);
    if (entry.empty()) {
      value.FailWant(kWantKeyPart);
      return part;
    }
    part.alternatives.push_back({std::string(entry), std::nullopt});
  }
  return part;
}

void ReadKeyPart(const FieldValue& value, RuleDraft& draft) {
  const size_t errors_before = value.error_count();
  KeyPart part = ReadAlternatives(value);
  if (value.error_count() > errors_before) return;
  Rule probe = SoundRule();
  probe.key = {part};
  if (!value.Check(ValidateRule(probe), "key[0]")) return;
  draft.rule.key.push_back(std::move(part));
}

void ReadCondition(const NamedValue& named, RuleDraft& draft) {
  const FieldValue& value = named.value;
  const size_t errors_before = value.error_count();
  Condition condition{std::string(named.name), {}};
  if (value.is_list()) {
    absl::flat_hash_set<absl::string_view> seen;
    for (const FieldValue& item : value.Items(kWantValues)) {
      const auto text = item.Text(kWantValue);
      if (!text.has_value()) continue;
      if (seen.insert(*text).second) {
        condition.any_of.push_back(Pattern::Parse(*text));
      } else {
        item.Fail(absl::StrCat("got ", item.Got(), " twice, want it once"));
      }
    }
  } else {
    const auto text = value.Text(kWantValues);
    if (text.has_value()) condition.any_of.push_back(Pattern::Parse(*text));
  }
  if (value.error_count() > errors_before) return;
  Rule probe = SoundRule();
  probe.match = {condition};
  const std::string field = absl::StrCat("match.", named.name);
  if (!value.Check(ValidateRule(probe), field)) return;
  draft.rule.match.push_back(std::move(condition));
}

}  // namespace

void ReadMatch(const FieldValue& value, RuleDraft& draft) {
  for (const NamedValue& named : value.Entries(kWantMatch)) {
    ReadCondition(named, draft);
  }
}

void ReadKey(const FieldValue& value, RuleDraft& draft) {
  for (const FieldValue& part : value.Items(kWantKey)) {
    ReadKeyPart(part, draft);
  }
}

}  // namespace tollgate
