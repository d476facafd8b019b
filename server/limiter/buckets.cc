#include "server/limiter/buckets.h"

#include <algorithm>
#include <limits>

namespace tollgate {

void CarryOver(const Registry& registry, uint32_t to_id, BucketState& state,
               uint32_t& limit_id) {
  while (limit_id != to_id) {
    const LimitVersion& at = registry.Version(limit_id);
    const uint32_t successor = at.successor.load(std::memory_order_acquire);
    if (successor == 0) return;
    const LimitVersion& next = registry.Version(successor);
    next.algorithm->Rescale(state, at.limit, next.limit, at.replaced_at_ns);
    limit_id = successor;
  }
}

Verdict Buckets::Take(const Charge& charge, const Algorithm& algorithm) {
  const LockedBucket bucket = table_.FindOrCreate(charge.fingerprint);
  const int64_t now_ns = std::max(now_ns_, bucket.not_before_ns());
  const Limit& limit = charge.limit->limit;
  const uint32_t wanted = charge.limit->id;
  if (bucket.limit_id() == 0) bucket.limit_id() = wanted;
  if (bucket.limit_id() != wanted) {
    CarryOver(registry_, wanted, bucket.state(), bucket.limit_id());
  }
  if (bucket.limit_id() != wanted && !IsOf(bucket, algorithm)) {
    Clear(bucket);
    bucket.limit_id() = wanted;
  }
  if (bucket.limit_id() == wanted) {
    return algorithm.Take(bucket.state(), limit, charge.ask, now_ns);
  }
  // Another tier, or rules that were replaced a moment ago. Under a smaller
  // limit less may count as spent, so only a take that is allowed moves the
  // bucket there: a refusal must not forget the rest.
  BucketState state = bucket.state();
  algorithm.Rescale(state, registry_.Version(bucket.limit_id()).limit, limit,
                    now_ns);
  const Verdict verdict = algorithm.Take(state, limit, charge.ask, now_ns);
  if (verdict.allowed) {
    bucket.state() = state;
    bucket.limit_id() = wanted;
  }
  return verdict;
}

Verdict Buckets::Peek(const Charge& charge, const Algorithm& algorithm) {
  Ask ask = charge.ask;
  if (charge.impossible) ask = Ask();
  // The lock is held to the end, since a state may own memory.
  const auto bucket = table_.Find(charge.fingerprint);
  BucketState state;
  if (bucket.has_value() && IsOf(*bucket, algorithm)) {
    state = bucket->state();
    uint32_t limit_id = bucket->limit_id();
    CarryOver(registry_, charge.limit->id, state, limit_id);
    if (limit_id != charge.limit->id) {
      algorithm.Rescale(state, registry_.Version(limit_id).limit,
                        charge.limit->limit, now_ns_);
    }
  }
  return algorithm.Peek(state, charge.limit->limit, ask, now_ns_);
}

void Buckets::Refund(const Charge& charge, int64_t taken_at_ns) {
  const auto bucket = table_.Find(charge.fingerprint);
  // Forgotten: it is full already.
  if (!bucket.has_value() || !IsOf(*bucket, charge.algorithm())) return;
  CarryOver(registry_, charge.limit->id, bucket->state(), bucket->limit_id());
  // Under the limit that it is kept under, for the reason in Take.
  const Limit& limit = registry_.Version(bucket->limit_id()).limit;
  Ask ask = charge.ask;
  ask.cost = std::min(ask.cost, charge.algorithm().Capacity(limit));
  charge.algorithm().Refund(bucket->state(), limit, ask, taken_at_ns, now_ns_);
}

bool Buckets::Reset(const Charge& charge) {
  const auto bucket = table_.Find(charge.fingerprint);
  if (!bucket.has_value()) return false;
  Clear(*bucket);
  return true;
}

bool Buckets::IsOf(const LockedBucket& bucket,
                   const Algorithm& algorithm) const {
  return registry_.Version(bucket.limit_id()).algorithm == &algorithm;
}

void Buckets::Clear(const LockedBucket& bucket) {
  const LimitVersion& under = registry_.Version(bucket.limit_id());
  under.algorithm->Trim(bucket.state(), under.limit,
                        std::numeric_limits<int64_t>::max());
  bucket.state() = BucketState();
}

}  // namespace tollgate
