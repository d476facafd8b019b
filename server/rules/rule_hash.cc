#include "server/rules/rule_hash.h"

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
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

void AppendNodeLimit(std::string& out, const NodeLimit& limit) {
  AppendNumber(out, limit.requests_per_unit);
  AppendNumber(out, static_cast<uint64_t>(limit.unit));
  AppendNumber(out, limit.unit_multiplier);
  AppendNumber(out, limit.unlimited ? 1 : 0);
  Append(out, limit.name);
  AppendSorted(out, limit.replaces,
               [](std::string& to, const std::string& name) {
                 absl::StrAppend(&to, name);
               });
}

void AppendNode(std::string& out, const NodeRule& node) {
  AppendNumber(out, node.path.size());
  for (const NodeStep& step : node.path) {
    Append(out, step.key);
    Append(out, step.value);
    AppendNumber(out, step.share ? 1 : 0);
  }
  AppendNumber(out, node.limits.size());
  for (const NodeLimit& limit : node.limits) AppendNodeLimit(out, limit);
  AppendNumber(out, node.quota_mode ? 1 : 0);
  Append(out, node.metadata);
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
  AppendNumber(out, rule.overflow_percent);
  AppendNumber(out, rule.unlimited ? 1 : 0);
  AppendSorted(out, rule.skips, [](std::string& to, const std::string& name) {
    absl::StrAppend(&to, name);
  });
  // Native rules hash as they did before there were others.
  if (rule.node.has_value()) AppendNode(out, *rule.node);
}

// Envoy-format rules are told apart by their places too, since of wildcards the
// first counts: for each of a domain's, how many come before it.
using Places = absl::flat_hash_map<const Rule*, size_t>;

Places PlacesOf(absl::Span<const Rule> rules) {
  Places places;
  absl::flat_hash_map<absl::string_view, size_t> next;
  for (const Rule& rule : rules) {
    if (rule.node.has_value()) places[&rule] = next[rule.domain]++;
  }
  return places;
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
  const Places places = PlacesOf(rules);
  for (const Rule* rule : sorted) {
    AppendRule(text, *rule);
    const auto place = places.find(rule);
    if (place != places.end()) AppendNumber(text, place->second);
  }
  const Fingerprint hash = KeyedHash(kPublicKey, text);
  return absl::StrFormat("%016x%016x", hash.hi, hash.lo);
}

}  // namespace tollgate
