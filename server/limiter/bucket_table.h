#ifndef TOLLGATE_SERVER_LIMITER_BUCKET_TABLE_H_
#define TOLLGATE_SERVER_LIMITER_BUCKET_TABLE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "absl/functional/function_ref.h"
#include "server/base/keyed_hash.h"
#include "server/base/mutex.h"
#include "server/limiter/bucket.h"

namespace tollgate {

// A bucket and its lock, held until the handle dies. Hold one at a time.
class LockedBucket {
 public:
  explicit LockedBucket(Bucket& bucket, int64_t not_before_ns = 0)
      : bucket_(&bucket), not_before_ns_(not_before_ns) {}
  ~LockedBucket() {
    if (bucket_ != nullptr) bucket_->lock.Unlock();
  }
  LockedBucket(LockedBucket&& other) noexcept
      : bucket_(std::exchange(other.bucket_, nullptr)),
        not_before_ns_(other.not_before_ns_) {}
  LockedBucket& operator=(LockedBucket&&) = delete;

  [[nodiscard]] BucketState& state() const { return bucket_->state; }
  // The limit under which `state` is kept; 0 in a bucket just made.
  [[nodiscard]] uint32_t& limit_id() const { return bucket_->limit_id; }
  // In a bucket just made, the latest sweep that forgot buckets near it, this
  // one's predecessor perhaps. It must not decide for an earlier instant, or
  // the time in between would refill twice. Otherwise 0.
  [[nodiscard]] int64_t not_before_ns() const { return not_before_ns_; }

 private:
  Bucket* bucket_;
  int64_t not_before_ns_;
};

// All buckets of one process, by fingerprint: a power-of-two number of stripes,
// each with its own mutex, index and buckets; each bucket with its own lock.
//
// Looking a bucket up, or making it, and joining the queue for its lock are one
// step under the stripe's mutex. The sweep removes a bucket only under the
// stripe's mutex, while nobody holds its lock or waits for it, so nobody can
// ever decide on a bucket that was forgotten. Nobody waits for a bucket while
// holding a stripe. Thread-safe.
class BucketTable {
 public:
  // `stripes` is a power of two.
  explicit BucketTable(size_t stripes);
  ~BucketTable();
  BucketTable(const BucketTable&) = delete;
  BucketTable& operator=(const BucketTable&) = delete;

  // Begins to fetch what a look-up of that fingerprint will touch first.
  void Prefetch(const Fingerprint& fingerprint) const;
  // The bucket of that fingerprint, made if there is none.
  LockedBucket FindOrCreate(const Fingerprint& fingerprint);
  // The same, or nothing if there is none.
  std::optional<LockedBucket> Find(const Fingerprint& fingerprint);

  // Whether a bucket with that state under that limit may be forgotten; it may
  // free memory that the state owns. Called
  // under the bucket's lock and the stripe's mutex, so it must only compute.
  using Forgettable =
      absl::FunctionRef<bool(BucketState& state, uint32_t limit_id)>;

  // Looks at `max_buckets` buckets, or all if there are fewer, going on where
  // the last call stopped, and removes the forgettable ones, as of
  // `now_ns`. Buckets in use at the moment are passed over. Returns how many
  // were removed. Calls take turns and share the position.
  size_t Sweep(size_t max_buckets, int64_t now_ns, Forgettable forgettable);

  // How far a walk over the buckets has come; a new one is at the start.
  struct Cursor {
    size_t stripe = 0;
    // In the stripe, the slots below this one are still to be visited.
    uint32_t slots_left = 0xFFFFFFFF;
  };
  // Looks at one bucket. Called under the bucket's lock and mostly the stripe's
  // mutex, so it must only compute. False ends the step, for one that was
  // much work.
  using Visitor =
      absl::FunctionRef<bool(const Fingerprint& fingerprint,
                             const BucketState& state, uint32_t limit_id)>;

  // Visits the next buckets, about `max_buckets`, all of one stripe, and moves
  // the cursor. False, and nothing visited, once the walk is over. A walk meets
  // every bucket that is there from its start to its end, and one that the
  // sweep moves perhaps twice. Waits for buckets in use, one at a time and
  // without holding the stripe. Do not hold a bucket.
  bool Walk(Cursor& cursor, size_t max_buckets, Visitor visit);

  [[nodiscard]] size_t size() const {
    return size_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] uint64_t swept_count() const {
    return swept_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] size_t stripe_count() const { return mask_ + 1; }

 private:
  class Stripe;

  Stripe& StripeOf(const Fingerprint& fingerprint) const;

  const size_t mask_;
  const std::unique_ptr<Stripe[]> stripes_;
  std::atomic<size_t> size_{0};     // touched only by creation and sweep
  std::atomic<uint64_t> swept_{0};  // a statistic

  Mutex sweep_mutex_;
  size_t sweep_stripe_ ABSL_GUARDED_BY(sweep_mutex_) = 0;
  uint32_t sweep_slot_ ABSL_GUARDED_BY(sweep_mutex_) = 0;
};

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_LIMITER_BUCKET_TABLE_H_
