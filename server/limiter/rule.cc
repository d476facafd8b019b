#include "server/limiter/rule.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
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

absl::Status CheckMatch(const std::vector<Condition>& match) {
  if (match.size() > kMaxEntries) {
    return Invalid("match",
                   absl::StrCat("got ", match.size(), " entries, want at most ",
                                kMaxEntries));
  }
  for (size_t i = 0; i < match.size(); ++i) {
    const std::string field = absl::StrCat("match.", match[i].key);
    absl::Status status = CheckText(field, match[i].key, 1, kMaxKeyBytes);
    if (!status.ok()) return status;
    status = CheckText(field, match[i].value, 0, kMaxValueBytes);
    if (!status.ok()) return status;
    for (size_t j = 0; j < i; ++j) {
      if (match[j].key == match[i].key) {
        return Invalid(field, "named twice, want once");
      }
    }
  }
  return absl::OkStatus();
}

absl::Status CheckKey(const std::vector<KeyPart>& key) {
  if (key.size() > kMaxEntries) {
    return Invalid("key", absl::StrCat("got ", key.size(),
                                       " parts, want at most ", kMaxEntries));
  }
  std::vector<std::string> seen;
  for (size_t i = 0; i < key.size(); ++i) {
    const std::string field = absl::StrCat("key[", i, "]");
    const auto& alternatives = key[i].alternatives;
    if (alternatives.empty() || alternatives.size() > kMaxEntries) {
      return Invalid(field,
                     absl::StrCat("got ", alternatives.size(),
                                  " alternatives, want 1 to ", kMaxEntries));
    }
    for (const std::string& name : alternatives) {
      absl::Status status = CheckText(field, name, 1, kMaxKeyBytes);
      if (!status.ok()) return status;
      if (std::find(seen.begin(), seen.end(), name) != seen.end()) {
        return Invalid(field, absl::StrCat("got \"", name,
                                           "\" twice, want each entry once"));
      }
      seen.push_back(name);
    }
  }
  return absl::OkStatus();
}

absl::Status CheckLimits(const Rule& rule) {
  if (rule.algorithm == nullptr) {
    return Invalid("algorithm",
                   absl::StrCat("unknown, want one of ",
                                absl::StrJoin(AlgorithmNames(), ", ")));
  }
  if (rule.limits.empty() || rule.limits.size() > kMaxLimits) {
    return Invalid("limit", absl::StrCat("got ", rule.limits.size(),
                                         " limits, want 1 to ", kMaxLimits));
  }
  for (const Limit& limit : rule.limits) {
    absl::Status status = rule.algorithm->Validate(limit);
    if (!status.ok()) return Invalid("limit", status.message());
  }
  if (rule.cost < 1 || rule.cost > kMaxCost) {
    return Invalid("cost",
                   absl::StrCat("got ", rule.cost, ", want 1 to ", kMaxCost));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ValidateRule(const Rule& rule) {
  absl::Status status = CheckText("domain", rule.domain, 1, kMaxDomainBytes);
  if (status.ok()) status = CheckName(rule.name);
  if (status.ok()) status = CheckMatch(rule.match);
  if (status.ok()) status = CheckKey(rule.key);
  if (status.ok()) status = CheckLimits(rule);
  return status;
}

}  // namespace tollgate
