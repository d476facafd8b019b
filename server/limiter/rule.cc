#include "server/limiter/rule.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/limiter/penalty.h"
#include "server/limiter/request.h"

namespace tollgate {
namespace {

absl::Status Invalid(absl::string_view field, absl::string_view problem) {
  return absl::InvalidArgumentError(absl::StrCat(field, ": ", problem));
}

absl::Status CheckText(absl::string_view field, absl::string_view text,
                       size_t min, size_t max) {
  if (text.size() < min || text.size() > max) {
    return Invalid(field, absl::StrCat("got ", text.size(), " bytes, want ",
                                       min, " to ", max));
  }
  if (!IsValidUtf8(text)) return Invalid(field, "not valid UTF-8");
  return absl::OkStatus();
}

absl::Status CheckName(absl::string_view name) {
  absl::Status status = CheckText("name", name, 1, kMaxNameBytes);
  if (!status.ok()) return status;
  const bool control = std::any_of(name.begin(), name.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
  });
  if (control) return Invalid("name", "got a control character, want none");
  return absl::OkStatus();
}

absl::Status CheckCount(absl::string_view field, size_t got, size_t min,
                        size_t max, absl::string_view what) {
  if (got >= min && got <= max) return absl::OkStatus();
  return Invalid(
      field,
      absl::StrCat("got ", got, " ", what, ", want ",
                   min == 0 ? "at most " : absl::StrCat(min, " to "), max));
}

absl::Status CheckCondition(const Condition& condition) {
  const std::string field = absl::StrCat("match.", condition.key);
  absl::Status status = CheckText(field, condition.key, 1, kMaxKeyBytes);
  if (!status.ok()) return status;
  if (condition.any_of.empty()) {
    return Invalid(field, "got an empty list, want one value or more");
  }
  for (const Pattern& pattern : condition.any_of) {
    status = CheckText(field, pattern.ToString(), 0, kMaxValueBytes);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status CheckMatch(const std::vector<Condition>& match) {
  absl::Status status =
      CheckCount("match", match.size(), 0, kMaxEntries, "entries");
  if (!status.ok()) return status;
  size_t combinations = 1;
  for (size_t i = 0; i < match.size(); ++i) {
    status = CheckCondition(match[i]);
    if (!status.ok()) return status;
    for (size_t j = 0; j < i; ++j) {
      if (match[j].key == match[i].key) {
        return Invalid(absl::StrCat("match.", match[i].key),
                       "named twice, want once");
      }
    }
    combinations *= match[i].any_of.size();
    if (combinations > kMaxPatterns) {
      return Invalid("match",
                     absl::StrCat("its lists combine to over ", kMaxPatterns,
                                  " cases: split the rule"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckSource(absl::string_view field, const KeySource& source) {
  absl::Status status = CheckText(field, source.entry, 1, kMaxKeyBytes);
  if (!status.ok() || !source.prefix.has_value()) return status;
  if (source.prefix->v4 < 0 || source.prefix->v4 > 32) {
    return Invalid(absl::StrCat(field, ".prefix.v4"),
                   absl::StrCat("got ", source.prefix->v4, ", want 0 to 32"));
  }
  if (source.prefix->v6 < 0 || source.prefix->v6 > 128) {
    return Invalid(absl::StrCat(field, ".prefix.v6"),
                   absl::StrCat("got ", source.prefix->v6, ", want 0 to 128"));
  }
  return absl::OkStatus();
}

absl::Status CheckKey(const std::vector<KeyPart>& key) {
  absl::Status status = CheckCount("key", key.size(), 0, kMaxEntries, "parts");
  std::vector<std::string> seen;
  for (size_t i = 0; i < key.size() && status.ok(); ++i) {
    const std::string field = absl::StrCat("key[", i, "]");
    const auto& alternatives = key[i].alternatives;
    status =
        CheckCount(field, alternatives.size(), 1, kMaxEntries, "alternatives");
    if (!status.ok()) return status;
    for (const KeySource& source : alternatives) {
      status = CheckSource(field, source);
      if (!status.ok()) return status;
      if (std::find(seen.begin(), seen.end(), source.entry) != seen.end()) {
        return Invalid(field, absl::StrCat("got \"", source.entry,
                                           "\" twice, want each entry once"));
      }
      seen.push_back(source.entry);
    }
  }
  return status;
}

absl::Status CheckLimits(absl::string_view field, const Algorithm& algorithm,
                         const std::vector<Limit>& limits) {
  absl::Status status =
      CheckCount(field, limits.size(), 1, kMaxLimits, "limits");
  if (!status.ok()) return status;
  for (const Limit& limit : limits) {
    status = algorithm.Validate(limit);
    if (!status.ok()) return Invalid(field, status.message());
  }
  return absl::OkStatus();
}

absl::Status CheckTier(const Tier& tier, const Algorithm& algorithm) {
  absl::Status status = CheckText("tier.entry", tier.entry, 1, kMaxKeyBytes);
  if (status.ok()) {
    status =
        CheckCount("tier.limits", tier.limits.size(), 1, kMaxTiers, "tiers");
  }
  bool has_fallback = tier.fallback.empty();
  for (size_t i = 0; i < tier.limits.size() && status.ok(); ++i) {
    const auto& [name, limits] = tier.limits[i];
    const std::string field = absl::StrCat("tier.limits.", name);
    status = CheckText(field, name, 1, kMaxValueBytes);
    if (status.ok()) status = CheckLimits(field, algorithm, limits);
    if (status.ok() && limits.size() != tier.limits[0].second.size()) {
      status =
          Invalid(field, absl::StrCat("got ", limits.size(), " limits, want ",
                                      tier.limits[0].second.size(),
                                      " as in the first tier"));
    }
    has_fallback = has_fallback || name == tier.fallback;
  }
  if (status.ok() && !has_fallback) {
    status = Invalid(
        "tier.default",
        absl::StrCat("got \"", tier.fallback, "\", want the name of a tier"));
  }
  return status;
}

absl::Status CheckReserve(const Reserve& reserve) {
  absl::Status status =
      CheckText("reserve.entry", reserve.entry, 1, kMaxKeyBytes);
  if (status.ok()) {
    status = CheckCount("reserve.shares", reserve.shares.size(), 1, kMaxTiers,
                        "shares");
  }
  bool has_fallback = reserve.fallback.empty();
  for (size_t i = 0; i < reserve.shares.size() && status.ok(); ++i) {
    const auto& [name, percent] = reserve.shares[i];
    const std::string field = absl::StrCat("reserve.shares.", name);
    status = CheckText(field, name, 1, kMaxValueBytes);
    if (status.ok() && percent > 99) {
      status =
          Invalid(field, absl::StrCat("got ", percent, "%, want 0% to 99%"));
    }
    has_fallback = has_fallback || name == reserve.fallback;
  }
  if (status.ok() && !has_fallback) {
    status = Invalid("reserve.default",
                     absl::StrCat("got \"", reserve.fallback,
                                  "\", want the name of a share"));
  }
  return status;
}

// Each limit must have a share that the algorithm can keep.
absl::Status CheckOverflow(const Rule& rule) {
  constexpr absl::string_view kField = "overflow_share";
  if (rule.overflow_percent < 1 ||
      rule.overflow_percent > kMaxOverflowPercent) {
    return Invalid(kField,
                   absl::StrCat("got ", rule.overflow_percent, "%, want 1% to ",
                                kMaxOverflowPercent, "%"));
  }
  const auto check = [&](const std::vector<Limit>& limits) {
    for (const Limit& limit : limits) {
      const absl::StatusOr<Limit> share = limit.Share(rule.overflow_percent);
      absl::Status status =
          share.ok() ? rule.algorithm->Validate(*share) : share.status();
      if (!status.ok()) {
        return Invalid(kField,
                       absl::StrCat(rule.overflow_percent, "% of ",
                                    limit.ToString(), ": ", status.message()));
      }
    }
    return absl::OkStatus();
  };
  if (!rule.tier.has_value()) return check(rule.limits);
  for (const auto& [name, limits] : rule.tier->limits) {
    absl::Status status = check(limits);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// An allow-list takes nothing, so whatever speaks of taking is a mistake.
absl::Status CheckUnlimited(const Rule& rule) {
  if (rule.limits.empty() && !rule.tier.has_value() && rule.key.empty() &&
      !rule.penalty.has_value() && !rule.reserve.has_value() &&
      rule.cost == 1 && rule.overflow_percent == 100) {
    return absl::OkStatus();
  }
  return Invalid("unlimited",
                 "got a key, limit, tier, cost, penalty, reserve or "
                 "overflow_share beside it, want none of them");
}

absl::Status CheckNode(const Rule& rule) {
  absl::Status status = ValidateNode(*rule.node);
  if (!status.ok()) return status;
  if (!rule.match.empty() || !rule.key.empty() || rule.tier.has_value() ||
      rule.cost != 1 || rule.penalty.has_value() || rule.reserve.has_value() ||
      rule.unlimited || !rule.skips.empty()) {
    return Invalid("node", "got a native rule's fields beside it, want none");
  }
  if (rule.algorithm == nullptr || rule.algorithm->TakesByTicket()) {
    return Invalid("algorithm", "got none that counts requests, want one");
  }
  size_t charged = 0;
  for (const NodeLimit& limit : rule.node->limits) {
    if (!limit.unlimited && limit.requests_per_unit > 0) ++charged;
  }
  if (rule.limits.size() != charged) {
    return Invalid("limit", absl::StrCat("got ", rule.limits.size(),
                                         " limits, want the node's ", charged));
  }
  return charged == 0 ? absl::OkStatus()
                      : CheckLimits("limit", *rule.algorithm, rule.limits);
}

absl::Status CheckTaking(const Rule& rule) {
  if (!rule.skips.empty()) {
    return Invalid("skips", "only a rule with unlimited: true has skips");
  }
  if (rule.algorithm == nullptr) {
    return Invalid("algorithm",
                   absl::StrCat("unknown, want one of ",
                                absl::StrJoin(AlgorithmNames(), ", ")));
  }
  absl::Status status;
  if (!rule.tier.has_value()) {
    status = CheckLimits("limit", *rule.algorithm, rule.limits);
  } else if (!rule.limits.empty()) {
    status = Invalid("limit", "got one beside a tier, want one of the two");
  } else {
    status = CheckTier(*rule.tier, *rule.algorithm);
  }
  if (status.ok() && (rule.cost < 1 || rule.cost > kMaxCost)) {
    status = Invalid("cost",
                     absl::StrCat("got ", rule.cost, ", want 1 to ", kMaxCost));
  }
  if (status.ok() && rule.penalty.has_value()) {
    status = Penalty().Validate(rule.penalty->after);
    if (!status.ok()) status = Invalid("penalty", status.message());
  }
  if (status.ok() && rule.reserve.has_value()) {
    status = CheckReserve(*rule.reserve);
  }
  if (status.ok()) status = CheckOverflow(rule);
  return status;
}

}  // namespace

absl::Status ValidateRule(const Rule& rule) {
  absl::Status status = CheckText("domain", rule.domain, 1, kMaxDomainBytes);
  if (status.ok()) status = CheckName(rule.name);
  if (status.ok()) status = CheckMatch(rule.match);
  if (status.ok()) status = CheckKey(rule.key);
  if (status.ok() && rule.enforce_percent > 100) {
    status = Invalid("mode.enforce", absl::StrCat("got ", rule.enforce_percent,
                                                  "%, want 0% to 100%"));
  }
  if (!status.ok()) return status;
  if (rule.node.has_value()) return CheckNode(rule);
  return rule.unlimited ? CheckUnlimited(rule) : CheckTaking(rule);
}

}  // namespace tollgate
