#ifndef TOLLGATE_SERVER_LIMITER_PLANNED_BUCKETS_H_
#define TOLLGATE_SERVER_LIMITER_PLANNED_BUCKETS_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "server/limiter/buckets.h"
#include "server/limiter/charge.h"
#include "server/limiter/plan.h"

namespace tollgate {

// The buckets of a plan, in place of Buckets where a request is settled: copies
// of what its store told. Where the store did not answer, the outage policy of
// the rule decides: all is allowed, or refused, or this process keeps its share
// of the limit in its own buckets. Thread-compatible.
class PlannedBuckets {
 public:
  // A refusal for want of the store says to come back after this.
  static constexpr int64_t kRetryAfterNs = 1'000'000'000;

  // `local` has the shares that this process keeps, one of `sharers`.
  PlannedBuckets(Plan& plan, Buckets& local, uint32_t sharers)
      : plan_(plan), local_(local), sharers_(sharers) {}

  Verdict Take(Charge& charge);
  Verdict Peek(Charge& charge);
  void Refund(const Charge& charge, int64_t taken_at_ns);
  Verdict TakePenalty(const Charge& charge);
  Verdict PeekPenalty(const Charge& charge);

 private:
  // What the store told of a bucket; null if it told nothing.
  LooseBucket* Find(const Fingerprint& fingerprint);
  // This process's share of what `charge` asks.
  std::pair<Charge, uint64_t> ShareOf(const Charge& charge) const;
  // What the rule's outage policy says of the charge.
  Verdict Decide(Charge& charge, bool take);

  Plan& plan_;
  Buckets& local_;
  const uint32_t sharers_;
  std::vector<Charge> taken_;  // from `local_`, to be given back there
};

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_LIMITER_PLANNED_BUCKETS_H_
