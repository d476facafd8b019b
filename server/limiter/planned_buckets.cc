#include "server/limiter/planned_buckets.h"

#include <algorithm>

#include "server/limiter/penalty.h"

namespace tollgate {

LooseBucket* PlannedBuckets::Find(const Fingerprint& fingerprint) {
  for (PlannedBucket& bucket : plan_.buckets()) {
    if (bucket.fingerprint == fingerprint) {
      return bucket.found.has_value() ? &*bucket.found : nullptr;
    }
  }
  return nullptr;
}

std::pair<Charge, uint64_t> PlannedBuckets::ShareOf(
    const Charge& charge) const {
  Charge share = charge;
  Share(sharers_, share);
  return {share, share.ask.cost / charge.ask.cost};
}

Verdict PlannedBuckets::Decide(Charge& charge, bool take) {
  charge.outage = true;
  Verdict verdict;
  verdict.allowed = charge.rule->rule.on_outage == OutagePolicy::kAllow;
  if (charge.rule->rule.on_outage != OutagePolicy::kBackstop) {
    verdict.remaining = verdict.allowed ? charge.limit->limit.burst() : 0;
    verdict.retry_after_ns = verdict.allowed ? 0 : kRetryAfterNs;
    return verdict;
  }
  auto [share, times] = ShareOf(charge);
  if (share.impossible && !charge.impossible) {
    verdict.retry_after_ns = kRetryAfterNs;  // the store may have it
    return verdict;
  }
  verdict = take ? local_.Take(share) : local_.Peek(share);
  verdict.remaining /= times;
  if (take && verdict.allowed) taken_.push_back(share);
  return verdict;
}

Verdict PlannedBuckets::Take(Charge& charge) {
  LooseBucket* const bucket = Find(charge.fingerprint);
  if (bucket == nullptr) return Decide(charge, /*take=*/true);
  if (!(bucket->limit() == charge.limit->limit)) {
    bucket->CarryOver(charge.limit->limit);
  }
  return charge.algorithm().Take(bucket->state(), charge.limit->limit,
                                 charge.ask, bucket->at_ns());
}

Verdict PlannedBuckets::Peek(Charge& charge) {
  const LooseBucket* const bucket = Find(charge.fingerprint);
  if (bucket == nullptr) return Decide(charge, /*take=*/false);
  const Ask ask = charge.impossible ? Ask() : charge.ask;
  const Limit& limit = charge.limit->limit;
  BucketState state = bucket->state();
  if (!(bucket->limit() == limit)) {
    charge.algorithm().Rescale(state, bucket->limit(), limit, bucket->at_ns());
  }
  return charge.algorithm().Peek(state, limit, ask, bucket->at_ns());
}

void PlannedBuckets::Refund(const Charge& charge, int64_t taken_at_ns) {
  LooseBucket* const bucket = Find(charge.fingerprint);
  if (bucket != nullptr) {
    // Under the limit that it is kept under, as in Buckets.
    Ask ask = charge.ask;
    ask.cost = std::min(ask.cost, charge.algorithm().Capacity(bucket->limit()));
    charge.algorithm().Refund(bucket->state(), bucket->limit(), ask,
                              taken_at_ns, bucket->at_ns());
    return;
  }
  const auto it =
      std::find_if(taken_.begin(), taken_.end(), [&](const Charge& share) {
        return share.fingerprint == charge.fingerprint;
      });
  if (it == taken_.end()) return;
  local_.Refund(*it, taken_at_ns);
  taken_.erase(it);
}

// Without the store nobody counts refusals.
Verdict PlannedBuckets::TakePenalty(const Charge& charge) {
  const Charge penalty = PenaltyCharge(charge);
  LooseBucket* const bucket = Find(penalty.fingerprint);
  Verdict verdict;
  verdict.allowed = true;
  return bucket == nullptr
             ? verdict
             : Penalty().Take(bucket->state(), penalty.limit->limit,
                              penalty.ask, bucket->at_ns());
}

Verdict PlannedBuckets::PeekPenalty(const Charge& charge) {
  const Charge penalty = PenaltyCharge(charge);
  const LooseBucket* const bucket = Find(penalty.fingerprint);
  Verdict verdict;
  verdict.allowed = true;
  return bucket == nullptr
             ? verdict
             : Penalty().Peek(bucket->state(), penalty.limit->limit,
                              penalty.ask, bucket->at_ns());
}

}  // namespace tollgate
