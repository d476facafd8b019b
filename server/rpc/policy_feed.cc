#include "server/rpc/policy_feed.h"

#include <utility>

#include "server/rpc/policy_rule.h"

namespace tollgate {
namespace {

constexpr size_t kPartBytes = size_t{64} * 1024;

// Ends the part in progress, if there is one.
void EndPart(v1::Policy& part, PolicyRules::Domain& domain) {
  if (part.rules().empty()) return;
  const std::string bytes = part.SerializeAsString();
  domain.parts.emplace_back(bytes);
  domain.bytes += bytes.size();
  part.clear_rules();
}

}  // namespace

PolicyFeed::PolicyFeed(RulesInForceFn rules_in_force, size_t max_watchers,
                       RpcObserver& observer)
    : rules_in_force_(std::move(rules_in_force)),
      max_watchers_(max_watchers),
      observer_(observer),
      rules_(std::make_shared<const PolicyRules>()) {}

bool PolicyFeed::Refresh(bool heartbeat) {
  const RulesInForce in_force = rules_in_force_();
  const size_t watchers = watchers_.load();
  const bool other_rules = in_force.rules != seen_rules_;
  if (!other_rules && watchers == seen_watchers_ && !heartbeat) return false;
  seen_watchers_ = watchers;
  if (other_rules) {
    std::shared_ptr<const PolicyRules> written =
        std::make_shared<const PolicyRules>(Write(in_force));
    seen_rules_ = in_force.rules;
    MutexLock lock(mutex_);
    rules_.swap(written);
  }
  news_.fetch_add(1);
  return true;
}

PolicyRules PolicyFeed::Write(const RulesInForce& in_force) const {
  PolicyRules written;
  written.version = rules()->version + 1;
  written.hash = in_force.hash;
  for (const auto& domain : in_force.rules->domains()) {
    PolicyRules::Domain& out = written.domains.emplace_back();
    out.name = domain->name;
    v1::Policy part;
    size_t bytes = 0;
    for (const BoundRule& bound : domain->rules) {
      // A rule from an Envoy-format file: those who ask by it are Envoys.
      if (bound.rule.node.has_value()) continue;
      v1::PolicyRule& rule = *part.add_rules();
      ToPolicyRule(bound.rule, rule);
      bytes += rule.ByteSizeLong();
      if (bytes < kPartBytes) continue;
      EndPart(part, out);
      bytes = 0;
    }
    EndPart(part, out);
  }
  return written;
}

std::shared_ptr<const PolicyRules> PolicyFeed::rules() const {
  MutexLock lock(mutex_);
  return rules_;
}

bool PolicyFeed::Join() {
  if (watchers_.fetch_add(1) >= max_watchers_) {
    watchers_.fetch_sub(1);
    return false;
  }
  observer_.OnWatchers(+1);
  return true;
}

void PolicyFeed::Leave() {
  watchers_.fetch_sub(1);
  observer_.OnWatchers(-1);
}

}  // namespace tollgate
