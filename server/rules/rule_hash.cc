#include "server/rules/rule_hash.h"

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "server/base/keyed_hash.h"

namespace tollgate {
namespace {

// Public and the same everywhere, so that replicas can compare their rules.
constexpr HashKey kPublicKey = {{'t', 'o', 'l', 'l', 'g', 'a', 't', 'e', '-',
                                 'r', 'u', 'l', 'e', 's', '-', '1'}};

// Length-prefixed, so that no two lists of fields read the same.
void Append(std::string& out, absl::string_view text) {
  absl::StrAppend(&out, text.size(), ":", text, ";");
}

void AppendNumber(std::string& out, uint64_t number) {
  Append(out, absl::StrCat(number));
}

void AppendMatch(std::string& out, const Rule& rule) {
  std::vector<const Condition*> sorted;
  for (const Condition& condition : rule.match) sorted.push_back(&condition);
  absl::c_sort(sorted, [](const Condition* a, const Condition* b) {
    return a->key < b->key;
  });
  AppendNumber(out, sorted.size());
  for (const Condition* condition : sorted) {
    Append(out, condition->key);
    AppendNumber(out, condition->any_of.size());
    for (const Pattern& p : condition->any_of) Append(out, p.ToString());
  }
}

void AppendRule(std::string& out, const Rule& rule) {
  Append(out, rule.domain);
  Append(out, rule.name);
  AppendMatch(out, rule);
  AppendNumber(out, rule.key.size());
  for (const KeyPart& part : rule.key) {
    AppendNumber(out, part.alternatives.size());
    for (const KeySource& source : part.alternatives) {
      Append(out, source.entry);
    }
  }
  AppendNumber(out, rule.limits.size());
  for (const Limit& limit : rule.limits) {
    AppendNumber(out, limit.tokens());
    AppendNumber(out, static_cast<uint64_t>(limit.period_ns()));
    AppendNumber(out, limit.burst());
  }
  Append(out, rule.algorithm->name());
  AppendNumber(out, rule.cost);
  AppendNumber(out, static_cast<uint64_t>(rule.mode));
}

}  // namespace

std::string HashRules(absl::Span<const Rule> rules) {
  std::vector<const Rule*> sorted;
  sorted.reserve(rules.size());
  for (const Rule& rule : rules) sorted.push_back(&rule);
  absl::c_sort(sorted, [](const Rule* a, const Rule* b) {
    return std::tie(a->domain, a->name) < std::tie(b->domain, b->name);
  });
  std::string text;
  for (const Rule* rule : sorted) AppendRule(text, *rule);
  const Fingerprint hash = KeyedHash(kPublicKey, text);
  return absl::StrFormat("%016x%016x", hash.hi, hash.lo);
}

}  // namespace tollgate
