#include "client/cli/rule_messages.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "server/limiter/rule_text.h"

namespace tollgate::cli {
namespace {

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

}  // namespace

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
  if (rule.node.has_value()) {
    for (const NodeStep& step : rule.node->path) {
      message.add_match(ToText(step));
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
  for (std::string& note : NotesText(rule)) message.add_notes(std::move(note));
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
  message.set_overflow_percent(explanation.rule->overflow_percent);
  if (explanation.rule->node.has_value()) {
    for (std::string& text : LimitTexts(*explanation.rule->node)) {
      message.add_limits(std::move(text));
    }
    return message;
  }
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
