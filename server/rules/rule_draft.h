#ifndef TOLLGATE_SERVER_RULES_RULE_DRAFT_H_
#define TOLLGATE_SERVER_RULES_RULE_DRAFT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "server/limiter/rule.h"
#include "server/rules/field_value.h"

namespace tollgate {

// A rule while its fields are read, in whatever order the file has them. A
// reader sets what it can read alone; what depends on other fields is read when
// all are there, from `fields`.
struct RuleDraft {
  Rule rule;
  std::optional<uint64_t> burst;
  bool unlimited_known = true;     // false if it is there and could not be read
  std::vector<NamedValue> fields;  // all, once the readers have run

  [[nodiscard]] const FieldValue* Find(absl::string_view name) const {
    return FindField(fields, name);
  }
};

// A rule with nothing wrong, so that ValidateRule speaks of what a reader has
// put into it and of nothing else.
[[nodiscard]] Rule SoundRule();

// An entry key that a rule refers to. `|` is kept for alternatives.
[[nodiscard]] std::optional<std::string> ReadEntryKey(const FieldValue& value,
                                                      absl::string_view want);

// The first of each pair.
template <typename Pairs>
std::vector<absl::string_view> NamesOf(const Pairs& pairs) {
  std::vector<absl::string_view> names;
  for (const auto& [name, unused] : pairs) names.push_back(name);
  return names;
}

// Fails, at its place, for a default that `names` does not have.
void CheckDefault(const FieldValue& value, absl::string_view want,
                  const std::vector<absl::string_view>& names);

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_RULES_RULE_DRAFT_H_
