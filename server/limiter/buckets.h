#ifndef TOLLGATE_SERVER_LIMITER_BUCKETS_H_
#define TOLLGATE_SERVER_LIMITER_BUCKETS_H_

#include <cstdint>

#include "server/limiter/bucket_table.h"
#include "server/limiter/charge.h"
#include "server/limiter/registry.h"

namespace tollgate {

// Carries `state`, kept under the limit `limit_id`, through the reloads since,
// each at its own moment, until the limit is number `to_id` or in force. Moves
// `limit_id`, which is not 0.
void CarryOver(const Registry& registry, uint32_t to_id, BucketState& state,
               uint32_t& limit_id);

// The buckets of one request at one moment; one lock at a time, under which
// only arithmetic runs. Thread-compatible; the table and registry are
// thread-safe.
class Buckets {
 public:
  // Both must outlive this.
  Buckets(BucketTable& table, const Registry& registry, int64_t now_ns)
      : table_(table), registry_(registry), now_ns_(now_ns) {}

  Verdict Take(const Charge& charge, const Algorithm& algorithm);
  // Creates no bucket and changes none. An impossible cost is looked up as 1.
  Verdict Peek(const Charge& charge, const Algorithm& algorithm);
  // Gives back what `charge` took at `taken_at_ns`.
  void Refund(const Charge& charge, int64_t taken_at_ns);
  // Makes the bucket as good as untouched. False if there is none.
  bool Reset(const Charge& charge);

 private:
  // Whether the state is that algorithm's. It always is, unless a state file
  // lied: fingerprints of different algorithms do not meet.
  [[nodiscard]] bool IsOf(const LockedBucket& bucket,
                          const Algorithm& algorithm) const;
  void Clear(const LockedBucket& bucket);

  BucketTable& table_;
  const Registry& registry_;
  const int64_t now_ns_;
};

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_LIMITER_BUCKETS_H_
