#include "server/rpc/policy_rule.h"

#include <string>
#include <vector>

#include "server/rpc/convert.h"

namespace tollgate {
namespace {

v1::OutagePolicy ToProto(OutagePolicy policy) {
  switch (policy) {
    case OutagePolicy::kBackstop:
      return v1::OUTAGE_BACKSTOP;
    case OutagePolicy::kAllow:
      return v1::OUTAGE_ALLOW;
    case OutagePolicy::kRefuse:
      return v1::OUTAGE_REFUSE;
  }
  return v1::OUTAGE_POLICY_UNSPECIFIED;
}

void SetHold(const Limit& limit, google::protobuf::Duration& out) {
  constexpr int64_t kSecondNs = 1'000'000'000;
  out.set_seconds(limit.hold_ns() / kSecondNs);
  out.set_nanos(static_cast<int32_t>(limit.hold_ns() % kSecondNs));
}

void AddLimits(const std::vector<Limit>& limits,
               google::protobuf::RepeatedPtrField<v1::PolicyLimit>& out) {
  for (const Limit& limit : limits) {
    v1::PolicyLimit& added = *out.Add();
    tollgate::ToProto(limit, *added.mutable_limit());
    if (limit.hold_ns() > 0) SetHold(limit, *added.mutable_max_delay());
  }
}

void AddMatch(const Rule& rule, v1::PolicyRule& out) {
  for (const Condition& condition : rule.match) {
    v1::PolicyCondition& added = *out.add_match();
    added.set_key(condition.key);
    for (const Pattern& pattern : condition.any_of) {
      v1::PolicyPattern& value = *added.add_any_of();
      value.set_wildcard(!pattern.is_exact());
      value.set_text(pattern.is_exact() ? pattern.prefix()
                                        : pattern.ToString());
    }
  }
}

void AddKey(const Rule& rule, v1::PolicyRule& out) {
  for (const KeyPart& part : rule.key) {
    v1::PolicyKeyPart& added = *out.add_key();
    for (const KeySource& source : part.alternatives) {
      v1::PolicyKeySource& alternative = *added.add_alternatives();
      alternative.set_entry(source.entry);
      if (!source.prefix.has_value()) continue;
      alternative.mutable_prefix()->set_v4(
          static_cast<uint32_t>(source.prefix->v4));
      alternative.mutable_prefix()->set_v6(
          static_cast<uint32_t>(source.prefix->v6));
    }
  }
}

void AddTaking(const Rule& rule, v1::PolicyRule& out) {
  out.set_algorithm(std::string(rule.algorithm->name()));
  out.set_cost(rule.cost);
  AddLimits(rule.limits, *out.mutable_limits());
  if (!rule.tier.has_value()) return;
  out.mutable_tier()->set_entry(rule.tier->entry);
  out.mutable_tier()->set_fallback(rule.tier->fallback);
  for (const auto& [name, limits] : rule.tier->limits) {
    v1::PolicyTierLimits& tier = *out.mutable_tier()->add_limits();
    tier.set_name(name);
    AddLimits(limits, *tier.mutable_limits());
  }
}

void AddPolicies(const Rule& rule, v1::PolicyRule& out) {
  if (rule.penalty.has_value()) {
    v1::PolicyPenalty& penalty = *out.mutable_penalty();
    tollgate::ToProto(rule.penalty->after, *penalty.mutable_after());
    SetHold(rule.penalty->after, *penalty.mutable_block());
  }
  if (!rule.reserve.has_value()) return;
  out.mutable_reserve()->set_entry(rule.reserve->entry);
  out.mutable_reserve()->set_fallback(rule.reserve->fallback);
  for (const auto& [name, percent] : rule.reserve->shares) {
    v1::PolicyReserveShare& share = *out.mutable_reserve()->add_shares();
    share.set_name(name);
    share.set_percent(percent);
  }
}

}  // namespace

void ToPolicyRule(const Rule& rule, v1::PolicyRule& out) {
  out.set_domain(rule.domain);
  out.set_name(rule.name);
  out.set_on_outage(rule.mode == Mode::kShadow ? v1::OUTAGE_ALLOW
                    : rule.unlimited           ? v1::OUTAGE_BACKSTOP
                                               : ToProto(rule.on_outage));
  if (out.on_outage() == v1::OUTAGE_ALLOW) return;
  AddMatch(rule, out);
  AddKey(rule, out);
  out.set_enforce_percent(rule.enforce_percent);
  out.set_unlimited(rule.unlimited);
  for (const std::string& name : rule.skips) out.add_skips(name);
  if (rule.unlimited) return;
  AddTaking(rule, out);
  out.set_overflow_percent(rule.overflow_percent);
  if (out.on_outage() != v1::OUTAGE_REFUSE) AddPolicies(rule, out);
}

void ToPolicyNode(const Rule& rule, v1::PolicyNode& out) {
  const NodeRule& node = *rule.node;
  out.set_domain(rule.domain);
  out.set_name(rule.name);
  out.set_algorithm(std::string(rule.algorithm->name()));
  out.set_quota_mode(node.quota_mode);
  out.set_shadow(rule.mode == Mode::kShadow);
  for (const NodeStep& step : node.path) {
    v1::PolicyNodeStep& added = *out.add_path();
    added.set_key(step.key);
    added.set_value(step.value);
    added.set_share(step.share);
  }
  size_t charged = 0;
  for (const NodeLimit& limit : node.limits) {
    v1::PolicyNodeLimit& added = *out.add_limits();
    added.set_unlimited(limit.unlimited);
    added.set_name(limit.name);
    for (const std::string& name : limit.replaces) added.add_replaces(name);
    added.set_unit(static_cast<int32_t>(limit.unit));
    added.set_unit_multiplier(limit.unit_multiplier);
    if (limit.unlimited || limit.requests_per_unit == 0) continue;
    tollgate::ToProto(rule.limits[charged++], *added.mutable_limit());
  }
}

}  // namespace tollgate
