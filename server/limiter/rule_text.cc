#include "server/limiter/rule_text.h"

#include <array>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "server/limiter/limit_unit.h"

namespace tollgate {
namespace {

std::string PeriodText(absl::Duration period) {
  constexpr absl::Duration kDay = absl::Hours(24);
  const std::array<std::pair<absl::Duration, const char*>, 7> kUnits = {{
      {absl::Seconds(1), "second"},
      {absl::Minutes(1), "minute"},
      {absl::Hours(1), "hour"},
      {kDay, "day"},
      {7 * kDay, "week"},
      {30 * kDay, "month"},
      {365 * kDay, "year"},
  }};
  for (const auto& [unit, name] : kUnits) {
    if (period == unit) return name;
  }
  return absl::FormatDuration(period);
}

std::string RateText(const Limit& limit) {
  return absl::StrCat(limit.tokens(), "/",
                      PeriodText(absl::Nanoseconds(limit.period_ns())));
}

void AddLimitNotes(const NodeLimit& limit, std::vector<std::string>& notes) {
  if (limit.unlimited) {
    notes.emplace_back("unlimited");
  } else if (limit.requests_per_unit == 0) {
    notes.push_back(absl::StrCat("0 per ", LimitUnitName(limit.unit),
                                 ": refuses everything"));
  }
  if (!limit.name.empty()) {
    notes.push_back(absl::StrCat("limit named ", limit.name));
  }
  if (!limit.replaces.empty()) {
    notes.push_back(
        absl::StrCat("replaces ", absl::StrJoin(limit.replaces, ", ")));
  }
}

std::vector<std::string> NodeNotes(const NodeRule& node) {
  if (node.path.empty()) return {"limits that requests bring along"};
  std::vector<std::string> notes;
  if (node.limits.empty()) notes.emplace_back("no limit");
  for (const NodeLimit& limit : node.limits) AddLimitNotes(limit, notes);
  if (node.quota_mode) {
    notes.emplace_back("quota_mode: refuses only if all such are refused");
  }
  for (const NodeStep& step : node.path) {
    if (step.share) {
      notes.push_back(absl::StrCat("all that ", step.ToString(),
                                   " matches share a bucket"));
    }
  }
  if (!node.metadata.empty()) {
    notes.push_back(absl::StrCat("metadata ", node.metadata));
  }
  return notes;
}

}  // namespace

std::string ToText(const Condition& condition) {
  return absl::StrCat(
      condition.key, " = ",
      absl::StrJoin(condition.any_of, " or ",
                    [](std::string* out, const Pattern& pattern) {
                      absl::StrAppend(out, pattern.ToString());
                    }));
}

std::string ToText(const KeyPart& part) {
  return absl::StrJoin(part.alternatives, " | ",
                       [](std::string* out, const KeySource& source) {
                         absl::StrAppend(out, source.entry);
                         if (source.prefix.has_value()) {
                           absl::StrAppend(out, " (v4 /", source.prefix->v4,
                                           ", v6 /", source.prefix->v6, ")");
                         }
                       });
}

std::string ToText(const NodeStep& step) {
  return absl::StrCat(step.key, " = ", step.value.empty() ? "any" : step.value);
}

std::string ModeText(const Rule& rule) {
  switch (rule.mode) {
    case Mode::kShadow:
      return "shadow";
    case Mode::kOff:
      return "off";
    case Mode::kEnforce:
      break;
  }
  if (rule.enforce_percent == 100) return "enforce";
  return absl::StrCat("enforce ", rule.enforce_percent, "%");
}

absl::string_view OutagePolicyName(OutagePolicy policy) {
  switch (policy) {
    case OutagePolicy::kAllow:
      return "allow";
    case OutagePolicy::kRefuse:
      return "refuse";
    case OutagePolicy::kBackstop:
      break;
  }
  return "backstop";
}

std::string LimitText(const Rule& rule, const Limit& limit) {
  if (rule.algorithm != nullptr && rule.algorithm->TakesByTicket()) {
    return absl::StrCat(
        limit.tokens(), " at once, slot_ttl ",
        absl::FormatDuration(absl::Nanoseconds(limit.period_ns())));
  }
  std::string text = RateText(limit);
  if (limit.burst() != limit.tokens()) {
    absl::StrAppend(&text, " burst ", limit.burst());
  }
  if (limit.hold_ns() > 0) {
    absl::StrAppend(&text, " max_delay ",
                    absl::FormatDuration(absl::Nanoseconds(limit.hold_ns())));
  }
  return text;
}

std::vector<std::string> LimitTexts(const NodeRule& node) {
  std::vector<std::string> texts;
  for (const NodeLimit& limit : node.limits) {
    const std::optional<absl::Duration> unit = PeriodOf(limit.unit);
    texts.push_back(
        limit.unlimited || !unit.has_value()
            ? "unlimited"
            : absl::StrCat(limit.requests_per_unit, "/",
                           PeriodText(*unit * limit.unit_multiplier)));
  }
  return texts;
}

std::vector<std::string> NotesText(const Rule& rule) {
  if (rule.node.has_value()) return NodeNotes(*rule.node);
  std::vector<std::string> notes;
  if (rule.tier.has_value()) {
    notes.push_back(absl::StrCat(
        "tier by ", rule.tier->entry,
        rule.tier->fallback.empty()
            ? ", none by default"
            : absl::StrCat(", ", rule.tier->fallback, " by default")));
  }
  if (rule.penalty.has_value()) {
    const Limit& after = rule.penalty->after;
    notes.push_back(
        absl::StrCat("penalty: blocked for ",
                     absl::FormatDuration(absl::Nanoseconds(after.hold_ns())),
                     " after more than ", RateText(after), " refusals"));
  }
  if (rule.reserve.has_value()) {
    notes.push_back(absl::StrCat(
        "reserve by ", rule.reserve->entry, ": ",
        absl::StrJoin(rule.reserve->shares, ", ",
                      [](std::string* text, const auto& share) {
                        absl::StrAppend(text, share.first, " leaves ",
                                        share.second, "%");
                      }),
        rule.reserve->fallback.empty()
            ? ""
            : absl::StrCat(", ", rule.reserve->fallback, " by default")));
  }
  if (rule.overflow_percent != 100) {
    notes.push_back(
        absl::StrCat("overflow_share: ", rule.overflow_percent, "%"));
  }
  if (rule.unlimited) {
    notes.push_back(
        rule.skips.empty()
            ? std::string("skips all rules")
            : absl::StrCat("skips ", absl::StrJoin(rule.skips, ", ")));
  }
  return notes;
}

}  // namespace tollgate
