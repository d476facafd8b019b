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

void AddLimits(const std::vector<Limit>& limits,
               google::protobuf::RepeatedPtrField<v1::PolicyLimit>& out) {
  constexpr int64_t kSecondNs = 1'000'000'000;
  for (const Limit& limit : limits) {
    v1::PolicyLimit& added = *out.Add();
    tollgate::ToProto(limit, *added.mutable_limit());
    if (limit.hold_ns() == 0) continue;
    added.mutable_max_delay()->set_seconds(limit.hold_ns() / kSecondNs);
    added.mutable_max_delay()->set_nanos(
        static_cast<int32_t>(limit.hold_ns() % kSecondNs));
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
  if (!rule.unlimited) AddTaking(rule, out);
}

}  // namespace tollgate
