#ifndef TOLLGATE_SERVER_LIMITER_BUCKET_TABLE_H_
#define TOLLGATE_SERVER_LIMITER_BUCKET_TABLE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>

#include "absl/functional/function_ref.h"
#include "server/base/keyed_hash.h"
#include "server/base/mutex.h"
#include "server/limiter/locked_bucket.h"

namespace tollgate {

// Buckets by fingerprint, never more than a most: a power-of-two number of
// stripes, each with its own mutex, index and buckets; each bucket with its own
// lock.
//
// Looking a bucket up, or making it, and joining the queue for its lock are one
// step under the stripe's mutex. The sweep removes a bucket only under the
// stripe's mutex, while nobody holds its lock or waits for it, so nobody can
// ever decide on a bucket that was forgotten. Nobody waits for a bucket while
// holding a stripe. Thread-safe.
class BucketTable {
 public:
  static constexpr size_t kUnlimited = std::numeric_limits<size_t>::max();

  // How many stripes a table of that many buckets wants, so that a stripe's
  // index grows in well under a millisecond: a power of two, 1024 to 2^20.
  [[nodiscard]] static size_t StripesFor(size_t max_buckets);

  // `stripes` is a power of two. At no moment are there more than `max_buckets`
  // buckets, 1 or more; nor more than 16.7 million in a stripe.
  explicit BucketTable(size_t stripes, size_t max_buckets = kUnlimited);
  ~BucketTable();
  BucketTable(const BucketTable&) = delete;
  BucketTable& operator=(const BucketTable&) = delete;

  // Begins to fetch what a look-up of that fingerprint will touch first.
  void Prefetch(const Fingerprint& fingerprint) const;
  // The bucket of that fingerprint, made if there is none; nothing if there is
  // none and no room for one.
  std::optional<LockedBucket> FindOrCreate(const Fingerprint& fingerprint);
  // The bucket of that fingerprint, or nothing if there is none.
  std::optional<LockedBucket> Find(const Fingerprint& fingerprint);

  // Whether a bucket with that state under that limit may be forgotten; it may
  // free memory that the state owns, and carry it over to a later limit. Called
  // under the bucket's lock and the stripe's mutex, so it must only compute.
  using Forgettable =
      absl::FunctionRef<bool(BucketState& state, uint32_t& limit_id)>;

  // Looks at `max_buckets` buckets, or all if there are fewer, going on where
  // the last call stopped, and removes the forgettable ones, as of
  // `now_ns`. Buckets in use at the moment are passed over. Returns how many
  // were removed. Calls take turns and share the position.
  size_t Sweep(size_t max_buckets, int64_t now_ns, Forgettable forgettable);

  // The same in the one stripe where `fingerprint` belongs, at a position of
  // its own: for a caller who found no room, and who must not do much.
  size_t SweepNear(const Fingerprint& fingerprint, size_t max_buckets,
                   int64_t now_ns, Forgettable forgettable);

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

  [[nodiscard]] size_t size() const { return count_.value(); }
  // Whether one more may be made. Soon out of date, where others make some.
  [[nodiscard]] bool has_room() const { return count_.has_room(); }
  [[nodiscard]] uint64_t swept_count() const {
    return swept_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] size_t stripe_count() const { return mask_ + 1; }

 private:
  class Stripe;

  // How many buckets there are. Room is taken before a bucket is made and given
  // back after one is removed, so there are never more.
  class Count {
   public:
    explicit Count(size_t most) : most_(most) {}
    [[nodiscard]] size_t value() const {
      return value_.load(std::memory_order_relaxed);
    }
    [[nodiscard]] bool has_room() const { return value() < most_; }
    bool TryAdd() {
      size_t value = this->value();
      while (value < most_) {
        if (value_.compare_exchange_weak(value, value + 1,
                                         std::memory_order_relaxed)) {
          return true;
        }
      }
      return false;
    }
    void Remove(size_t n) { value_.fetch_sub(n, std::memory_order_relaxed); }

   private:
    const size_t most_;
    std::atomic<size_t> value_{0};  // touched only by creation and sweep
  };

  Stripe& StripeOf(const Fingerprint& fingerprint) const;

  const size_t mask_;
  const std::unique_ptr<Stripe[]> stripes_;
  Count count_;
  std::atomic<uint64_t> swept_{0};  // a statistic

  Mutex sweep_mutex_;
  size_t sweep_stripe_ ABSL_GUARDED_BY(sweep_mutex_) = 0;
  uint32_t sweep_slot_ ABSL_GUARDED_BY(sweep_mutex_) = 0;
};

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_LIMITER_BUCKET_TABLE_H_
