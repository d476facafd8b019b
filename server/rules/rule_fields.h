#ifndef TOLLGATE_SERVER_RULES_RULE_FIELDS_H_
#define TOLLGATE_SERVER_RULES_RULE_FIELDS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "server/limiter/rule.h"
#include "server/rules/field_value.h"

namespace tollgate {

// The name of a rule, and where it stands.
struct NamePlace {
  std::string name;
  TextPosition at;
  std::string path;
};

// A rule as read, without its domain. Of a rule with mistakes, only what could
// be read is set; the name is empty if there is no good one.
struct ReadRule {
  Rule rule;
  NamePlace name;
  std::vector<NamePlace> skips;
};

// What one rule file holds.
struct RuleFileFields {
  size_t max_rules = 0;  // what is still allowed; set by the caller
  std::string domain;    // empty if missing or bad
  bool has_domain = false;
  bool has_rules = false;
  std::vector<ReadRule> rules;
};

// Reads the root of a native rule file, reporting every mistake.
void ReadRuleFile(const FieldValue& root, RuleFileFields& out);

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_RULES_RULE_FIELDS_H_
