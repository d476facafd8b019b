#include "server/limiter/bucket_table.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "server/base/spin.h"
#include "server/limiter/bucket_chunks.h"
#include "server/limiter/slot_index.h"

namespace tollgate {
namespace {

// A stripe's lock is held for this many buckets at most, so that a check never
// waits long for the sweep or a walk.
constexpr size_t kHold = 128;

// Holds a stripe's mutex for a scope. Most hold it for some tens of
// nanoseconds, so whoever finds it taken does not sleep at once.
class ABSL_SCOPED_LOCKABLE StripeLock {
 public:
  explicit StripeLock(Mutex& mutex)
      ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex) ABSL_NO_THREAD_SAFETY_ANALYSIS
      : mutex_(mutex) {
    if (!SpinUntil([&mutex] { return mutex.TryLock(); })) mutex.Lock();
  }
  ~StripeLock() ABSL_UNLOCK_FUNCTION() { mutex_.Unlock(); }
  StripeLock(const StripeLock&) = delete;
  StripeLock& operator=(const StripeLock&) = delete;

 private:
  Mutex& mutex_;
};

}  // namespace

void BucketLock::LockEnqueued() {
  const auto try_lock = [this] {
    uint32_t word = word_.load(std::memory_order_relaxed);
    return (word & kLocked) == 0 &&
           word_.compare_exchange_weak(word, word - kWaiter + kLocked,
                                       std::memory_order_acquire,
                                       std::memory_order_relaxed);
  };
  while (!SpinUntil(try_lock)) {
    const uint32_t word = word_.load(std::memory_order_relaxed);
    if ((word & kLocked) != 0) word_.wait(word, std::memory_order_relaxed);
  }
}

// The buckets of one stripe lie densely, so that the sweep reads them in order
// and memory shrinks from the end. Everything is guarded by the stripe's mutex,
// but for what a bucket's own lock guards.
class alignas(64) BucketTable::Stripe {
 public:
  // The mutex and the index lie in the first cache line, the first buckets'
  // address in the second.
  void Prefetch() const ABSL_NO_THREAD_SAFETY_ANALYSIS {
    __builtin_prefetch(this);
    __builtin_prefetch(&buckets_);
  }

  struct Acquired {
    Bucket* bucket = nullptr;
    bool locked = false;  // otherwise enqueued, since somebody holds the lock
    int64_t not_before_ns = 0;
  };

  // The bucket, locked or enqueued for. If there is none, it is made where
  // `count` is not null and has room; otherwise null is returned.
  Acquired Acquire(const Fingerprint& fingerprint,
                   Count* count) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    StripeLock lock(mutex_);
    Acquired acquired;
    const uint32_t slot = index_.Find(fingerprint, FingerprintOf{buckets_});
    if (slot != SlotIndex::kNone) {
      acquired.bucket = &buckets_[slot];
    } else if (count != nullptr && buckets_.size() < SlotIndex::kMaxSlots &&
               count->TryAdd()) {
      acquired.bucket = &Append(fingerprint);
      acquired.not_before_ns = forgot_ns_;
    } else {
      return acquired;
    }
    acquired.locked = acquired.bucket->lock.TryLock();
    if (!acquired.locked) acquired.bucket->lock.Enqueue();
    return acquired;
  }

  struct Swept {
    size_t removed = 0;
    size_t looked = 0;
    bool done = false;  // the stripe's end was reached
    // Dies with this, once the stripe's lock is free.
    std::vector<BucketChunks::Chunk> spare;
  };

  // Looks at `budget` buckets at most, from `*slot` on, and removes the
  // forgettable ones. Moves `*slot`.
  Swept Sweep(uint32_t* slot, size_t budget, int64_t now_ns, Count& count,
              Forgettable forgettable) {
    StripeLock lock(mutex_);
    Swept swept = SweepLocked(slot, budget, now_ns, count, forgettable);
    index_.Shrink(FingerprintOf{buckets_});
    swept.spare = buckets_.TakeSpare();
    return swept;
  }

  // The same, going on where the last call of this stopped; no memory is given
  // back, which may take long.
  Swept SweepOn(size_t budget, int64_t now_ns, Count& count,
                Forgettable forgettable) {
    StripeLock lock(mutex_);
    if (near_slot_ >= buckets_.size()) near_slot_ = 0;
    return SweepLocked(&near_slot_, budget, now_ns, count, forgettable);
  }

  // Visits the slots below `*slots_left`, downwards, `budget` at most, and
  // moves it. Buckets in use are enqueued for and put into `busy`. Downwards,
  // because the sweep moves the last bucket into a gap: there it is met again,
  // and never missed.
  size_t Walk(uint32_t* slots_left, size_t budget, Visitor visit,
              std::vector<Bucket*>& busy) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    StripeLock lock(mutex_);
    *slots_left = std::min(*slots_left, buckets_.size());
    size_t visited = 0;
    bool go_on = true;
    while (*slots_left > 0 && visited < budget && go_on) {
      Bucket& bucket = buckets_[--*slots_left];
      ++visited;
      if (bucket.lock.TryLock()) {
        go_on = visit(bucket.fingerprint, bucket.state, bucket.limit_id);
        bucket.lock.Unlock();
      } else {
        bucket.lock.Enqueue();
        busy.push_back(&bucket);
      }
    }
    return visited;
  }

 private:
  struct FingerprintOf {
    const BucketChunks& buckets;
    const Fingerprint& operator()(uint32_t slot) const {
      const Bucket& bucket = buckets[slot];
      // May lie in another cache line, and most probably comes next.
      __builtin_prefetch(&bucket.lock);
      return bucket.fingerprint;
    }
  };

  Swept SweepLocked(uint32_t* slot, size_t budget, int64_t now_ns, Count& count,
                    Forgettable forgettable)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    Swept swept;
    while (*slot < buckets_.size() && swept.looked < budget) {
      ++swept.looked;
      if (RemoveIf(*slot, forgettable)) {
        ++swept.removed;  // another bucket stands at this slot now
      } else {
        ++*slot;
      }
    }
    swept.done = *slot >= buckets_.size();
    if (swept.removed > 0) {
      forgot_ns_ = std::max(forgot_ns_, now_ns);
      count.Remove(swept.removed);
    }
    return swept;
  }

  Bucket& Append(const Fingerprint& fingerprint)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    index_.Insert(fingerprint, buckets_.size(), FingerprintOf{buckets_});
    Bucket& bucket = buckets_.PushBack();
    bucket.fingerprint = fingerprint;
    return bucket;
  }

  // Removes the bucket at `slot` if nobody uses it and it is forgettable; the
  // last bucket moves into its place. The analysis cannot follow two locks that
  // are only tried, never waited for.
  bool RemoveIf(uint32_t slot, Forgettable forgettable)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    Bucket& bucket = buckets_[slot];
    if (!bucket.lock.TryLockIfUnused()) return false;
    const uint32_t last_slot = buckets_.size() - 1;
    Bucket& last = buckets_[last_slot];
    if (!forgettable(bucket.state, bucket.limit_id) ||
        (slot != last_slot && !last.lock.TryLockIfUnused())) {
      bucket.lock.Unlock();
      return false;
    }
    index_.Erase(bucket.fingerprint, slot, FingerprintOf{buckets_});
    if (slot != last_slot) {
      index_.Move(last.fingerprint, last_slot, slot);
      bucket.fingerprint = last.fingerprint;
      bucket.state = last.state;
      bucket.limit_id = last.limit_id;
      bucket.lock.Unlock();
    }
    buckets_.PopBack();
    return true;
  }

  Mutex mutex_;
  SlotIndex index_ ABSL_GUARDED_BY(mutex_);
  BucketChunks buckets_ ABSL_GUARDED_BY(mutex_);
  // The latest sweep that removed a bucket here.
  int64_t forgot_ns_ ABSL_GUARDED_BY(mutex_) = 0;
  uint32_t near_slot_ ABSL_GUARDED_BY(mutex_) = 0;  // of SweepOn
};

size_t BucketTable::StripesFor(size_t max_buckets) {
  constexpr size_t kPerStripe = 8192;
  return std::clamp(std::bit_ceil(max_buckets / kPerStripe), size_t{1024},
                    size_t{1} << 20);
}

BucketTable::BucketTable(size_t stripes, size_t max_buckets)
    : mask_(stripes - 1), stripes_(new Stripe[stripes]), count_(max_buckets) {}

BucketTable::~BucketTable() = default;

BucketTable::Stripe& BucketTable::StripeOf(
    const Fingerprint& fingerprint) const {
  return stripes_[fingerprint.hi & mask_];
}

void BucketTable::Prefetch(const Fingerprint& fingerprint) const {
  StripeOf(fingerprint).Prefetch();
}

std::optional<LockedBucket> BucketTable::FindOrCreate(
    const Fingerprint& fingerprint) ABSL_NO_THREAD_SAFETY_ANALYSIS {
  const Stripe::Acquired acquired =
      StripeOf(fingerprint).Acquire(fingerprint, &count_);
  if (acquired.bucket == nullptr) return std::nullopt;
  if (!acquired.locked) acquired.bucket->lock.LockEnqueued();
  return LockedBucket(*acquired.bucket, acquired.not_before_ns);
}

std::optional<LockedBucket> BucketTable::Find(const Fingerprint& fingerprint)
    ABSL_NO_THREAD_SAFETY_ANALYSIS {
  const Stripe::Acquired acquired =
      StripeOf(fingerprint).Acquire(fingerprint, /*count=*/nullptr);
  if (acquired.bucket == nullptr) return std::nullopt;
  if (!acquired.locked) acquired.bucket->lock.LockEnqueued();
  return LockedBucket(*acquired.bucket);
}

size_t BucketTable::Sweep(size_t max_buckets, int64_t now_ns,
                          Forgettable forgettable) {
  MutexLock lock(sweep_mutex_);
  size_t removed = 0;
  size_t visited = 0;  // stripes, so that an empty table ends the loop
  // A stripe that it starts in the middle of, it ends with too.
  const size_t stripes = stripe_count() + (sweep_slot_ > 0 ? 1 : 0);
  while (max_buckets > 0 && visited < stripes) {
    const Stripe::Swept swept = stripes_[sweep_stripe_].Sweep(
        &sweep_slot_, std::min(max_buckets, kHold), now_ns, count_,
        forgettable);
    removed += swept.removed;
    max_buckets -= swept.looked;
    if (swept.done) {
      sweep_stripe_ = (sweep_stripe_ + 1) & mask_;
      sweep_slot_ = 0;
      ++visited;
    }
  }
  swept_.fetch_add(removed, std::memory_order_relaxed);
  return removed;
}

bool BucketTable::Walk(Cursor& cursor, size_t max_buckets,
                       Visitor visit) ABSL_NO_THREAD_SAFETY_ANALYSIS {
  std::vector<Bucket*> busy;
  while (cursor.stripe < stripe_count()) {
    const size_t visited = stripes_[cursor.stripe].Walk(
        &cursor.slots_left, std::min(max_buckets, kHold), visit, busy);
    // They stay where they are, since they are enqueued for.
    for (Bucket* bucket : busy) {
      bucket->lock.LockEnqueued();
      visit(bucket->fingerprint, bucket->state, bucket->limit_id);
      bucket->lock.Unlock();
    }
    if (cursor.slots_left == 0) cursor = Cursor{cursor.stripe + 1};
    if (visited > 0) return true;
  }
  return false;
}

size_t BucketTable::SweepNear(const Fingerprint& fingerprint,
                              size_t max_buckets, int64_t now_ns,
                              Forgettable forgettable) {
  const Stripe::Swept swept =
      StripeOf(fingerprint).SweepOn(max_buckets, now_ns, count_, forgettable);
  swept_.fetch_add(swept.removed, std::memory_order_relaxed);
  return swept.removed;
}

}  // namespace tollgate
