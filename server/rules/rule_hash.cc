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
                                 'r', 'u', 'l', 'e', 's', '-', '2'}};

// Length-prefixed, so that no two lists of fields read the same.
void Append(std::string& out, absl::string_view text) {
  absl::StrAppend(&out, text.size(), ":", text, ";");
}

void AppendNumber(std::string& out, uint64_t number) {
  Append(out, absl::StrCat(number));
}

// The items in an order of their own, each as `append` writes it: for lists
// whose order means nothing.
template <typename Items, typename Append1>
void AppendSorted(std::string& out, const Items& items, Append1 append) {
  std::vector<std::string> texts;
  for (const auto& item : items) append(texts.emplace_back(), item);
  absl::c_sort(texts);
  AppendNumber(out, texts.size());
  for (const std::string& text : texts) Append(out, text);
}

void AppendCondition(std::string& out, const Condition& condition) {
  Append(out, condition.key);
  AppendSorted(out, condition.any_of, [](std::string& to, const Pattern& p) {
    AppendNumber(to, p.is_exact() ? 1 : 0);
    Append(to, p.ToString());
  });
}

void AppendKeyPart(std::string& out, const KeyPart& part) {
  AppendNumber(out, part.alternatives.size());
  for (const KeySource& source : part.alternatives) {
    Append(out, source.entry);
    AppendNumber(out, source.prefix.has_value() ? 1 : 0);
    if (!source.prefix.has_value()) continue;
    AppendNumber(out, static_cast<uint64_t>(source.prefix->v4));
    AppendNumber(out, static_cast<uint64_t>(source.prefix->v6));
  }
}

void AppendLimits(std::string& out, absl::Span<const Limit> limits) {
  AppendNumber(out, limits.size());
  for (const Limit& limit : limits) {
    AppendNumber(out, limit.tokens());
    AppendNumber(out, static_cast<uint64_t>(limit.period_ns()));
    AppendNumber(out, limit.burst());
    AppendNumber(out, static_cast<uint64_t>(limit.hold_ns()));
  }
}

void AppendTier(std::string& out, const Tier& tier) {
  Append(out, tier.entry);
  Append(out, tier.fallback);
  AppendSorted(out, tier.limits, [](std::string& to, const auto& named) {
    Append(to, named.first);
    AppendLimits(to, named.second);
  });
}

void AppendReserve(std::string& out, const Reserve& reserve) {
  Append(out, reserve.entry);
  Append(out, reserve.fallback);
  AppendSorted(out, reserve.shares, [](std::string& to, const auto& named) {
    Append(to, named.first);
    AppendNumber(to, named.second);
  });
}

void AppendRule(std::string& out, const Rule& rule) {
  Append(out, rule.domain);
  Append(out, rule.name);
  AppendSorted(out, rule.match, AppendCondition);
  AppendNumber(out, rule.key.size());
  for (const KeyPart& part : rule.key) AppendKeyPart(out, part);
  AppendLimits(out, rule.limits);
  AppendNumber(out, rule.tier.has_value() ? 1 : 0);
  if (rule.tier.has_value()) AppendTier(out, *rule.tier);
  Append(out, rule.algorithm->name());
  AppendNumber(out, rule.cost);
  AppendNumber(out, static_cast<uint64_t>(rule.mode));
  AppendNumber(out, rule.enforce_percent);
  AppendNumber(out, rule.penalty.has_value() ? 1 : 0);
  if (rule.penalty.has_value()) AppendLimits(out, {rule.penalty->after});
  AppendNumber(out, rule.reserve.has_value() ? 1 : 0);
  if (rule.reserve.has_value()) AppendReserve(out, *rule.reserve);
  AppendNumber(out, static_cast<uint64_t>(rule.on_outage));
  AppendNumber(out, rule.unlimited ? 1 : 0);
  AppendSorted(out, rule.skips, [](std::string& to, const std::string& name) {
    absl::StrAppend(&to, name);
  });
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
