#ifndef TOLLGATE_SERVER_LIMITER_BUCKETS_H_
#define TOLLGATE_SERVER_LIMITER_BUCKETS_H_

#include <cstdint>
#include <optional>

#include "server/limiter/bucket_table.h"
#include "server/limiter/charge.h"
#include "server/limiter/registry.h"

namespace tollgate {

// Carries `state`, kept under the limit `limit_id`, through the reloads since,
// each at its own moment, until the limit is number `to_id` or in force. Moves
// `limit_id`, which is not 0.
void CarryOver(const Registry& registry, uint32_t to_id, BucketState& state,
               uint32_t& limit_id);

// Whether a bucket may be forgotten at `now_ns`. Carries it over to the limit
// in force, so that the chain of reloads is not walked again, and frees what
// its state owns and no longer needs.
[[nodiscard]] bool IsForgettable(const Registry& registry, BucketState& state,
                                 uint32_t& limit_id, int64_t now_ns);

// The buckets of one request at one moment; one lock at a time, under which
// only arithmetic runs.
//
// A key that has no bucket, and for which there is no room even after a look
// for buckets to forget, is charged at its rule's overflow bucket. That is
// decided once for a charge, which remembers it. Thread-compatible; the tables
// and registry are thread-safe.
class Buckets {
 public:
  // All must outlive this. `own` has the keys' buckets and the penalties,
  // `overflow` those that keys share, and room for all of them.
  Buckets(BucketTable& own, BucketTable& overflow, const Registry& registry,
          int64_t now_ns)
      : own_(own), overflow_(overflow), registry_(registry), now_ns_(now_ns) {}

  // `charge` is not impossible.
  Verdict Take(Charge& charge);
  // Creates no bucket and takes nothing. An impossible cost is looked up as 1.
  Verdict Peek(Charge& charge);
  // Gives back what `charge` took at `taken_at_ns`.
  void Refund(const Charge& charge, int64_t taken_at_ns);
  // Makes the bucket as good as untouched. False if there is none.
  bool Reset(Charge& charge);

  // The same for the bucket that counts the refusals of the charge's key. A
  // key for which there is no room is not counted, and allowed.
  Verdict TakePenalty(const Charge& charge);
  Verdict PeekPenalty(const Charge& charge);
  void ResetPenalty(const Charge& charge);

 private:
  // Whether the state is that algorithm's. It always is, unless a state file
  // lied: fingerprints of different algorithms do not meet.
  [[nodiscard]] bool IsOf(const LockedBucket& bucket,
                          const Algorithm& algorithm) const;
  // The charge's own bucket, made if there is none and there is room.
  std::optional<LockedBucket> Obtain(const Charge& charge);
  // The bucket that Take would take from, if there is one.
  std::optional<LockedBucket> Look(Charge& charge);
  // Forgets what can be forgotten near where the charge's bucket would lie.
  bool MakeRoom(const Charge& charge);
  Verdict TakeFrom(const LockedBucket& bucket, const Charge& charge,
                   const Algorithm& algorithm);
  Verdict PeekAt(const std::optional<LockedBucket>& bucket,
                 const Charge& charge, const Algorithm& algorithm);
  void Clear(const LockedBucket& bucket);

  BucketTable& own_;
  BucketTable& overflow_;
  const Registry& registry_;
  const int64_t now_ns_;
};

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_LIMITER_BUCKETS_H_
