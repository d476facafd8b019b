#include "server/limiter/buckets.h"

#include <algorithm>
#include <limits>

#include "server/limiter/penalty.h"

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

bool IsForgettable(const Registry& registry, BucketState& state,
                   uint32_t& limit_id, int64_t now_ns) {
  CarryOver(registry, /*to_id=*/0, state, limit_id);
  const LimitVersion& under = registry.Version(limit_id);
  if (under.algorithm->OwnsMemory()) {
    under.algorithm->Trim(state, under.limit, now_ns);
  }
  return under.algorithm->IsForgettable(state, under.limit, now_ns);
}

bool Buckets::MakeRoom(const Charge& charge) {
  // Few, so that a flood of new keys does not turn each check into a scan; the
  // next one goes on where this one stops.
  constexpr size_t kLook = 8;
  return own_.SweepNear(charge.fingerprint, kLook, now_ns_,
                        [&](BucketState& state, uint32_t& limit_id) {
                          return IsForgettable(registry_, state, limit_id,
                                               now_ns_);
                        }) > 0;
}

std::optional<LockedBucket> Buckets::Obtain(const Charge& charge) {
  std::optional<LockedBucket> bucket = own_.FindOrCreate(charge.fingerprint);
  if (bucket.has_value() || !MakeRoom(charge)) return bucket;
  return own_.FindOrCreate(charge.fingerprint);  // others may have been faster
}

std::optional<LockedBucket> Buckets::Look(Charge& charge) {
  if (!charge.overflow) {
    std::optional<LockedBucket> bucket = own_.Find(charge.fingerprint);
    if (bucket.has_value() || own_.has_room()) return bucket;
    if (MakeRoom(charge)) return std::nullopt;
    ShareOverflow(charge);
  }
  return overflow_.Find(charge.bucket());
}

Verdict Buckets::TakeFrom(const LockedBucket& bucket, const Charge& charge,
                          const Algorithm& algorithm) {
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

Verdict Buckets::Take(Charge& charge) {
  if (!charge.overflow) {
    const std::optional<LockedBucket> bucket = Obtain(charge);
    if (bucket.has_value()) {
      return TakeFrom(*bucket, charge, charge.algorithm());
    }
    ShareOverflow(charge);
  }
  if (charge.too_large) return Peek(charge);
  return TakeFrom(*overflow_.FindOrCreate(charge.bucket()), charge,
                  charge.algorithm());
}

Verdict Buckets::PeekAt(const std::optional<LockedBucket>& bucket,
                        const Charge& charge, const Algorithm& algorithm) {
  const Ask ask = charge.impossible || charge.too_large ? Ask() : charge.ask;
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

Verdict Buckets::Peek(Charge& charge) {
  // The lock is held to the end, since a state may own memory.
  const std::optional<LockedBucket> bucket = Look(charge);
  Verdict verdict = PeekAt(bucket, charge, charge.algorithm());
  if (charge.too_large) {
    // The key's own bucket could hold it, so waiting may help: once others'
    // buckets are full again there is room, if nobody takes from them.
    const Limit& limit = charge.limit->limit;
    verdict.allowed = false;
    verdict.retry_after_ns = limit.fill_time().ns + 1 + limit.hold_ns();
  }
  return verdict;
}

void Buckets::Refund(const Charge& charge, int64_t taken_at_ns) {
  BucketTable& table = charge.overflow ? overflow_ : own_;
  const auto bucket = table.Find(charge.bucket());
  // Forgotten: it is full already.
  if (!bucket.has_value() || !IsOf(*bucket, charge.algorithm())) return;
  CarryOver(registry_, charge.limit->id, bucket->state(), bucket->limit_id());
  // Under the limit that it is kept under, for the reason in TakeFrom.
  const Limit& limit = registry_.Version(bucket->limit_id()).limit;
  Ask ask = charge.ask;
  ask.cost = std::min(ask.cost, charge.algorithm().Capacity(limit));
  charge.algorithm().Refund(bucket->state(), limit, ask, taken_at_ns, now_ns_);
}

bool Buckets::Reset(Charge& charge) {
  const std::optional<LockedBucket> bucket = Look(charge);
  if (bucket.has_value()) Clear(*bucket);
  return bucket.has_value();
}

Verdict Buckets::TakePenalty(const Charge& charge) {
  const Charge penalty = PenaltyCharge(charge);
  const std::optional<LockedBucket> bucket = Obtain(penalty);
  if (bucket.has_value()) return TakeFrom(*bucket, penalty, Penalty());
  Verdict verdict;
  verdict.allowed = true;
  return verdict;
}

Verdict Buckets::PeekPenalty(const Charge& charge) {
  const Charge penalty = PenaltyCharge(charge);
  return PeekAt(own_.Find(penalty.fingerprint), penalty, Penalty());
}

void Buckets::ResetPenalty(const Charge& charge) {
  const auto bucket = own_.Find(PenaltyCharge(charge).fingerprint);
  if (bucket.has_value()) Clear(*bucket);
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
