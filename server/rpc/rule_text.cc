#include "server/rpc/rule_text.h"

#include <array>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/limiter/explain.h"
#include "server/rpc/convert.h"

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

void AddLimits(const Rule& rule, absl::string_view tier,
               const std::vector<Limit>& limits, v1::RuleInfo& out) {
  for (const Limit& limit : limits) {
    v1::LimitInfo& info = *out.add_limits();
    info.set_tier(std::string(tier));
    ToProto(limit, *info.mutable_limit());
    info.set_text(LimitText(rule, limit));
  }
}

void AddNotes(const Rule& rule, v1::RuleInfo& out) {
  if (rule.tier.has_value()) {
    out.add_notes(absl::StrCat(
        "tier by ", rule.tier->entry,
        rule.tier->fallback.empty()
            ? ", none by default"
            : absl::StrCat(", ", rule.tier->fallback, " by default")));
  }
  if (rule.penalty.has_value()) {
    const Limit& after = rule.penalty->after;
    out.add_notes(
        absl::StrCat("penalty: blocked for ",
                     absl::FormatDuration(absl::Nanoseconds(after.hold_ns())),
                     " after more than ", RateText(after), " refusals"));
  }
  if (rule.reserve.has_value()) {
    out.add_notes(absl::StrCat(
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
  if (rule.unlimited) {
    out.add_notes(
        rule.skips.empty()
            ? std::string("skips all rules")
            : absl::StrCat("skips ", absl::StrJoin(rule.skips, ", ")));
  }
}

}  // namespace

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

void DescribeRule(const Rule& rule, v1::RuleInfo& out) {
  out.set_domain(rule.domain);
  out.set_name(rule.name);
  if (!rule.unlimited && rule.algorithm != nullptr) {
    out.set_algorithm(std::string(rule.algorithm->name()));
  }
  AddLimits(rule, "", rule.limits, out);
  if (rule.tier.has_value()) {
    for (const auto& [tier, limits] : rule.tier->limits) {
      AddLimits(rule, tier, limits, out);
    }
  }
  for (const Condition& condition : rule.match) {
    out.add_match(ToText(condition));
  }
  for (const KeyPart& part : rule.key) out.add_key(ToText(part));
  out.set_cost(rule.cost);
  out.set_mode(ModeText(rule));
  out.set_on_outage(std::string(OutagePolicyName(rule.on_outage)));
  out.set_unlimited(rule.unlimited);
  AddNotes(rule, out);
}

}  // namespace tollgate
