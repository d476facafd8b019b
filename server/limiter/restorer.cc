#include "server/limiter/restorer.h"

#include <limits>
#include <vector>

#include "absl/strings/match.h"
#include "server/limiter/penalty.h"

namespace tollgate {
namespace {

// Makes `state` one under `to`, and nothing that could not be so.
bool Convert(const Algorithm& algorithm, const Limit& from, const Limit& to,
             int64_t now_ns, BucketState& state) {
  if (from == to) return true;
  algorithm.Rescale(state, from, to, now_ns);
  std::vector<int64_t> numbers;
  algorithm.Save(state, to, now_ns, numbers);
  algorithm.Trim(state, to, std::numeric_limits<int64_t>::max());
  state = BucketState();
  return algorithm.Restore(SavedState{numbers, now_ns}, to, now_ns, state);
}

}  // namespace

Restorer::Restorer(std::shared_ptr<const RuleSet> rules, Registry& registry,
                   BucketTable& own, BucketTable& overflow, int64_t now_ns)
    : rules_(std::move(rules)),
      registry_(registry),
      own_(own),
      overflow_(overflow),
      now_ns_(now_ns) {
  const auto add = [this](const BoundRule& bound) {
    by_name_.emplace(std::pair<absl::string_view, absl::string_view>(
                         bound.rule.domain, bound.rule.name),
                     &bound);
  };
  for (const auto& domain : rules_->domains()) {
    for (const BoundRule& bound : domain->rules) add(bound);
    add(domain->overrides);
  }
}

std::optional<Restorer::Target> Restorer::Find(const SavedLimit& limit) {
  // A limit that its rule no longer has is bound as it was, so that the bucket
  // carries over once its key is asked for: of a tier that was renamed, say.
  // Nobody has more of these, but a file might say so.
  constexpr uint32_t kMaxBound = 65'536;
  const auto it = by_name_.find(std::pair(limit.domain, limit.rule));
  if (it == by_name_.end() || it->second->rule.unlimited) return std::nullopt;
  const BoundRule& bound = *it->second;
  Target target;
  target.saved = limit.limit;
  if (absl::StartsWith(limit.slot, kOverflowSlot)) {
    const bool is_override = bound.rule.name == kOverrideRule;
    target.shared = OverflowBucket(
        bound.hash_key,
        is_override ? limit.slot.substr(kOverflowSlot.size()) : "");
  }
  if (limit.algorithm == Penalty().name() && bound.rule.penalty.has_value()) {
    target.algorithm = &Penalty();
  } else if (limit.algorithm == bound.rule.algorithm->name()) {
    target.algorithm = bound.rule.algorithm;
  } else {
    return std::nullopt;
  }
  if (!target.algorithm->Validate(limit.limit).ok()) return std::nullopt;
  target.limit_id = registry_.FindLimit(limit.domain, limit.rule, limit.slot,
                                        *target.algorithm);
  if (target.limit_id == 0 && bound_ < kMaxBound) {
    ++bound_;
    target.limit_id = registry_
                          .BindLimit(*bound.id, limit.slot, *target.algorithm,
                                     limit.limit, now_ns_)
                          .value_or(0);
  }
  if (target.limit_id == 0) return std::nullopt;
  return target;
}

Restorer::Outcome Restorer::Restore(const Target& target,
                                    const Fingerprint& fingerprint,
                                    const SavedState& saved) {
  const Algorithm& algorithm = *target.algorithm;
  const Limit& limit = registry_.Version(target.limit_id).limit;
  // There is room for all of them, so there must be no others.
  if (target.shared.has_value() &&
      (fingerprint.hi != target.shared->hi ||
       fingerprint.lo - target.shared->lo >= kMaxLimits)) {
    return Outcome::kInvalid;
  }
  BucketState state;
  if (!algorithm.Restore(saved, target.saved, now_ns_, state) ||
      !Convert(algorithm, target.saved, limit, now_ns_, state)) {
    return Outcome::kInvalid;
  }
  algorithm.Trim(state, limit, now_ns_);
  if (algorithm.IsForgettable(state, limit, now_ns_)) return Outcome::kFull;
  const std::optional<LockedBucket> bucket =
      (target.shared.has_value() ? overflow_ : own_).FindOrCreate(fingerprint);
  if (!bucket.has_value()) {
    algorithm.Trim(state, limit, std::numeric_limits<int64_t>::max());
    return Outcome::kNoRoom;
  }
  if (bucket->limit_id() != 0) {
    const LimitVersion& before = registry_.Version(bucket->limit_id());
    before.algorithm->Trim(bucket->state(), before.limit,
                           std::numeric_limits<int64_t>::max());
  }
  bucket->state() = state;
  bucket->limit_id() = target.limit_id;
  return Outcome::kRestored;
}

}  // namespace tollgate
