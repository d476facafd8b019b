#include "server/rpc/policy_feed.h"

#include <utility>

#include "server/rpc/policy_rule.h"

namespace tollgate {
namespace {

constexpr size_t kPartBytes = size_t{64} * 1024;

// Writes the rules of one domain in parts.
class PartWriter {
 public:
  explicit PartWriter(PolicyRules::Domain& domain) : domain_(domain) {}

  void Add(const Rule& rule) {
    if (rule.node.has_value()) {
      v1::PolicyNode& node = *part_.add_nodes();
      ToPolicyNode(rule, node);
      bytes_ += node.ByteSizeLong();
    } else {
      v1::PolicyRule& native = *part_.add_rules();
      ToPolicyRule(rule, native);
      bytes_ += native.ByteSizeLong();
    }
    if (bytes_ >= kPartBytes) EndPart();
  }

  // Ends the part in progress, if there is one.
  void EndPart() {
    if (bytes_ == 0) return;
    const std::string bytes = part_.SerializeAsString();
    domain_.parts.emplace_back(bytes);
    domain_.bytes += bytes.size();
    part_.Clear();
    bytes_ = 0;
  }

 private:
  PolicyRules::Domain& domain_;
  v1::Policy part_;
  size_t bytes_ = 0;
};

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
    PartWriter writer(out);
    for (const BoundRule& bound : domain->rules) writer.Add(bound.rule);
    writer.EndPart();
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
