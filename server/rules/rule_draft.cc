#include "server/rules/rule_draft.h"

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/limiter/algorithm.h"
#include "server/rules/quote.h"

namespace tollgate {

Rule SoundRule() {
  Rule rule;
  rule.domain = "domain";
  rule.name = "name";
  rule.limits = {Limit()};
  rule.algorithm = FindAlgorithm("token_bucket");
  return rule;
}

std::optional<std::string> ReadEntryKey(const FieldValue& value,
                                        absl::string_view want) {
  const auto text = value.Text(want);
  if (!text.has_value()) return std::nullopt;
  if (absl::StrContains(*text, '|')) {
    value.FailWant(want);
    return std::nullopt;
  }
  Rule probe = SoundRule();
  probe.key = {KeyPart{{KeySource{std::string(*text), std::nullopt}}}};
  if (!value.Check(ValidateRule(probe), "key[0]")) return std::nullopt;
  return std::string(*text);
}

void CheckDefault(const FieldValue& value, absl::string_view want,
                  const std::vector<absl::string_view>& names) {
  const auto text = value.Text(want);
  if (!text.has_value() || absl::c_linear_search(names, *text)) return;
  value.FailWant(absl::StrCat(want, DidYouMean(*text, names)));
}

}  // namespace tollgate
