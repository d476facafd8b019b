#include "server/rpc/rule_text.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "server/limiter/rule_text.h"
#include "server/rpc/convert.h"

namespace tollgate {
namespace {

void AddLimits(const Rule& rule, absl::string_view tier,
               const std::vector<Limit>& limits, v1::RuleInfo& out) {
  for (const Limit& limit : limits) {
    v1::LimitInfo& info = *out.add_limits();
    info.set_tier(std::string(tier));
    ToProto(limit, *info.mutable_limit());
    info.set_text(LimitText(rule, limit));
  }
}

}  // namespace

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
  if (rule.node.has_value()) {
    for (const NodeStep& step : rule.node->path) {
      out.add_match(ToText(step));
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
  for (std::string& note : NotesText(rule)) out.add_notes(std::move(note));
}

}  // namespace tollgate
