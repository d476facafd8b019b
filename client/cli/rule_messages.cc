#include "client/cli/rule_messages.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"

namespace tollgate::cli {
namespace {

constexpr int64_t kDays = int64_t{24} * 3600 * 1'000'000'000;
constexpr std::array<std::pair<int64_t, absl::string_view>, 7> kUnits{
    {{1'000'000'000, "second"},
     {int64_t{60} * 1'000'000'000, "minute"},
     {int64_t{3600} * 1'000'000'000, "hour"},
     {kDays, "day"},
     {7 * kDays, "week"},
     {30 * kDays, "month"},
     {365 * kDays, "year"}}};

std::string Duration(int64_t ns) {
  return absl::FormatDuration(absl::Nanoseconds(ns));
}

std::string Period(int64_t ns) {
  for (const auto& [unit_ns, name] : kUnits) {
    if (unit_ns == ns) return std::string(name);
  }
  return Duration(ns);
}

std::string Rate(const Limit& limit) {
  return absl::StrCat(limit.tokens(), "/", Period(limit.period_ns()));
}

void Add(const Rule& rule, const std::string& tier, const Limit& limit,
         v1::RuleInfo& message) {
  v1::LimitInfo* info = message.add_limits();
  info->set_tier(tier);
  info->set_text(LimitText(rule, limit));
  info->mutable_limit()->set_tokens(limit.tokens());
  info->mutable_limit()->set_burst(limit.burst());
  google::protobuf::Duration* period = info->mutable_limit()->mutable_period();
  period->set_seconds(limit.period_ns() / 1'000'000'000);
  period->set_nanos(static_cast<int32_t>(limit.period_ns() % 1'000'000'000));
}

std::vector<std::string> Notes(const Rule& rule) {
  std::vector<std::string> notes;
  if (rule.tier.has_value()) {
    const std::string& fallback = rule.tier->fallback;
    notes.push_back(absl::StrCat("tier by ", rule.tier->entry, ", ",
                                 fallback.empty() ? "none" : fallback,
                                 " by default"));
  }
  if (rule.penalty.has_value()) {
    const Limit& after = rule.penalty->after;
    notes.push_back(absl::StrCat("penalty: blocked for ",
                                 Duration(after.hold_ns()), " after more than ",
                                 Rate(after), " refusals"));
  }
  if (rule.reserve.has_value()) {
    std::string note = absl::StrCat(
        "reserve by ", rule.reserve->entry, ": ",
        absl::StrJoin(rule.reserve->shares, ", ",
                      [](std::string* out, const auto& share) {
                        absl::StrAppend(out, share.first, " leaves ",
                                        share.second, "%");
                      }));
    if (!rule.reserve->fallback.empty()) {
      absl::StrAppend(&note, ", ", rule.reserve->fallback, " by default");
    }
    notes.push_back(std::move(note));
  }
  if (rule.unlimited) {
    notes.push_back(absl::StrCat(
        "skips ",
        rule.skips.empty() ? "all rules" : absl::StrJoin(rule.skips, ", ")));
  }
  return notes;
}

}  // namespace

std::string LimitText(const Rule& rule, const Limit& limit) {
  if (rule.algorithm != nullptr && rule.algorithm->TakesByTicket()) {
    return absl::StrCat(limit.tokens(), " at once, slot_ttl ",
                        Duration(limit.period_ns()));
  }
  std::string text = Rate(limit);
  if (limit.burst() != limit.tokens()) {
    absl::StrAppend(&text, " burst ", limit.burst());
  }
  if (limit.hold_ns() > 0) {
    absl::StrAppend(&text, " max_delay ", Duration(limit.hold_ns()));
  }
  return text;
}

v1::RuleInfo ToMessage(const Rule& rule) {
  v1::RuleInfo message;
  message.set_domain(rule.domain);
  message.set_name(rule.name);
  if (!rule.unlimited && rule.algorithm != nullptr) {
    message.set_algorithm(std::string(rule.algorithm->name()));
  }
  for (const Limit& limit : rule.limits) Add(rule, "", limit, message);
  if (rule.tier.has_value()) {
    for (const auto& [tier, limits] : rule.tier->limits) {
      for (const Limit& limit : limits) Add(rule, tier, limit, message);
    }
  }
  for (const Condition& condition : rule.match) {
    message.add_match(ToText(condition));
  }
  for (const KeyPart& part : rule.key) message.add_key(ToText(part));
  message.set_cost(rule.cost);
  message.set_mode(ModeText(rule));
  message.set_on_outage(std::string(OutagePolicyName(rule.on_outage)));
  message.set_unlimited(rule.unlimited);
  for (std::string& note : Notes(rule)) message.add_notes(std::move(note));
  return message;
}

v1::RuleExplanation ToMessage(const RuleExplanation& explanation) {
  v1::RuleExplanation message;
  message.set_rule(explanation.rule->name);
  message.set_applies(explanation.applies);
  message.set_reason(explanation.reason);
  const bool shadow = explanation.applies && explanation.shadow;
  message.set_mode(shadow ? "shadow" : ModeText(*explanation.rule));
  if (!explanation.applies) return message;
  message.set_descriptor_index(static_cast<uint32_t>(explanation.descriptor));
  message.set_key(explanation.key);
  message.set_tier(explanation.tier);
  message.set_cost(explanation.cost);
  uint64_t most = 0;
  for (const Limit& limit : explanation.limits) {
    message.add_limits(LimitText(*explanation.rule, limit));
    most = std::max<uint64_t>(most, limit.burst());
  }
  // Rounded up, as decisions do.
  message.set_reserved((most * explanation.reserved_percent + 99) / 100);
  return message;
}

}  // namespace tollgate::cli
