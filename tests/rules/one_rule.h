#ifndef TOLLGATE_TESTS_RULES_ONE_RULE_H_
#define TOLLGATE_TESTS_RULES_ONE_RULE_H_

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/rules/rule_file.h"
#include "tests/support/status_matchers.h"

namespace tollgate {

// The one rule of a file with `fields` besides its name, which must load.
inline Rule OneRule(const std::string& fields) {
  const LoadedRules loaded = ParseRules(
      absl::StrCat("{domain: shop, rules: [{name: a, ", fields, "}]}"), "r");
  EXPECT_THAT(ToStatus(loaded.errors), IsOk()) << fields;
  if (loaded.rules.size() == 1 && loaded.errors.empty()) return loaded.rules[0];
  Rule none;  // so that a failed expectation ends in words, not in a crash
  none.limits = {Limit()};
  none.match = {{"", {Pattern::Exact("")}}};
  none.key = {KeyPart{{KeySource{}}}};
  none.tier.emplace();
  none.penalty.emplace();
  none.reserve.emplace();
  return none;
}

}  // namespace tollgate

#endif  // TOLLGATE_TESTS_RULES_ONE_RULE_H_
