#include "server/limiter/buckets.h"

#include <algorithm>
#include <limits>

namespace tollgate {

const LimitVersion& CarryOver(const Registry& registry,
                              const LimitVersion& from, uint32_t to_id,
                              BucketState& state) {
  const LimitVersion* at = &from;
  const LimitVersion* const target = &registry.Version(to_id);
  while (at != target) {
    const uint32_t successor = at->successor.load(std::memory_order_acquire);
    if (successor == 0) break;
    const LimitVersion& next = registry.Version(successor);
    next.algorithm->Rescale(state, at->limit, next.limit, at->replaced_at_ns);
    at = &next;
  }
  return *at;
}

void Buckets::BringUpToDate(BucketState& state, uint32_t& limit_id,
                            const Charge& charge, const Algorithm& algorithm) {
  const uint32_t wanted = charge.limit->id;
  if (limit_id == wanted) return;
  if (limit_id != 0) {
    const LimitVersion& under =
        CarryOver(registry_, registry_.Version(limit_id), wanted, state);
    if (under.limit != charge.limit->limit) {
      algorithm.Rescale(state, under.limit, charge.limit->limit, now_ns_);
    }
  }
  limit_id = wanted;
}

Verdict Buckets::Take(const Charge& charge, const Algorithm& algorithm) {
  const LockedBucket bucket = table_.FindOrCreate(charge.fingerprint);
  BringUpToDate(bucket.state(), bucket.limit_id(), charge, algorithm);
  return algorithm.Take(bucket.state(), charge.limit->limit, charge.ask,
                        std::max(now_ns_, bucket.not_before_ns()));
}

Verdict Buckets::Peek(const Charge& charge, const Algorithm& algorithm) {
  Ask ask = charge.ask;
  if (charge.impossible) ask = Ask();
  // The lock is held to the end, since a state may own memory.
  const auto bucket = table_.Find(charge.fingerprint);
  BucketState state;
  if (bucket.has_value()) {
    state = bucket->state();
    uint32_t limit_id = bucket->limit_id();
    BringUpToDate(state, limit_id, charge, algorithm);
  }
  return algorithm.Peek(state, charge.limit->limit, ask, now_ns_);
}

void Buckets::Refund(const Charge& charge, int64_t taken_at_ns) {
  const auto bucket = table_.Find(charge.fingerprint);
  if (!bucket.has_value()) return;  // forgotten: it is full already
  const Algorithm& algorithm = charge.algorithm();
  BringUpToDate(bucket->state(), bucket->limit_id(), charge, algorithm);
  algorithm.Refund(bucket->state(), charge.limit->limit, charge.ask,
                   taken_at_ns, now_ns_);
}

bool Buckets::Reset(const Charge& charge) {
  const auto bucket = table_.Find(charge.fingerprint);
  if (!bucket.has_value()) return false;
  const LimitVersion& under = registry_.Version(bucket->limit_id());
  under.algorithm->Trim(bucket->state(), under.limit,
                        std::numeric_limits<int64_t>::max());
  bucket->state() = BucketState();
  return true;
}

}  // namespace tollgate
