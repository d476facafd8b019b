#include "server/limiter/bucket_table.h"

#include <algorithm>
#include <vector>

#include "absl/container/flat_hash_set.h"

namespace tollgate {

void BucketLock::LockEnqueued() {
  uint32_t word = word_.load(std::memory_order_relaxed);
  while (true) {
    if ((word & kLocked) != 0) {
      word_.wait(word, std::memory_order_relaxed);
      word = word_.load(std::memory_order_relaxed);
    } else if (word_.compare_exchange_weak(word, word - kWaiter + kLocked,
                                           std::memory_order_acquire,
                                           std::memory_order_relaxed)) {
      return;
    }
  }
}

// The buckets of one stripe lie densely in chunks, so that the sweep reads them
// in order and memory shrinks from the end; an index of 4-byte positions finds
// them by fingerprint. Everything is guarded by the stripe's mutex, but for
// what a bucket's own lock guards.
class alignas(64) BucketTable::Stripe {
 public:
  Stripe() : index_(0, Hash{this}, Equal{this}) {}

  struct Acquired {
    Bucket* bucket = nullptr;
    bool locked = false;  // otherwise enqueued, since somebody holds the lock
    bool created = false;
  };

  // The bucket, locked or enqueued for. Null if there is none and `create` is
  // false.
  Acquired Acquire(const Fingerprint& fingerprint,
                   bool create) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    MutexLock lock(mutex_);
    Acquired acquired;
    const auto it = index_.find(fingerprint);
    if (it != index_.end()) {
      acquired.bucket = &At(*it);
    } else if (create) {
      acquired.bucket = &Append(fingerprint);
      acquired.created = true;
    } else {
      return acquired;
    }
    acquired.locked = acquired.bucket->lock.TryLock();
    if (!acquired.locked) acquired.bucket->lock.Enqueue();
    return acquired;
  }

  // Looks at buckets from `*slot` on, `budget` at most, and removes the
  // forgettable ones. Moves `*slot`; it is at or past the end when this stripe
  // is done. Takes what it looked at from `*budget`.
  size_t Sweep(size_t* slot, size_t* budget, Forgettable forgettable) {
    MutexLock lock(mutex_);
    size_t removed = 0;
    size_t looked = 0;
    while (*slot < size_ && looked < *budget) {
      ++looked;
      if (RemoveIf(static_cast<uint32_t>(*slot), forgettable)) {
        ++removed;  // another bucket stands at this slot now
      } else {
        ++*slot;
      }
    }
    *budget -= looked;
    if (removed > 0) Shrink();
    return removed;
  }

  [[nodiscard]] size_t size() const {
    MutexLock lock(mutex_);
    return size_;
  }

  [[nodiscard]] bool Done(size_t slot) const { return slot >= size(); }

 private:
  static constexpr uint32_t kChunk = 32;

  struct Hash {
    using is_transparent = void;
    const Stripe* stripe;
    size_t operator()(uint32_t slot) const ABSL_NO_THREAD_SAFETY_ANALYSIS {
      return stripe->At(slot).fingerprint.lo;
    }
    size_t operator()(const Fingerprint& f) const { return f.lo; }
  };
  struct Equal {
    using is_transparent = void;
    const Stripe* stripe;
    bool operator()(uint32_t a, uint32_t b) const { return a == b; }
    bool operator()(uint32_t slot,
                    const Fingerprint& f) const ABSL_NO_THREAD_SAFETY_ANALYSIS {
      return stripe->At(slot).fingerprint == f;
    }
    bool operator()(const Fingerprint& f, uint32_t slot) const {
      return (*this)(slot, f);
    }
  };

  Bucket& At(uint32_t slot) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return chunks_[slot / kChunk][slot % kChunk];
  }

  Bucket& Append(const Fingerprint& fingerprint)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (size_ == chunks_.size() * kChunk) {
      chunks_.push_back(std::make_unique<Bucket[]>(kChunk));
    }
    Bucket& bucket = At(size_);
    bucket.fingerprint = fingerprint;
    index_.insert(size_);
    ++size_;
    return bucket;
  }

  // Removes the bucket at `slot` if nobody uses it and it is forgettable; the
  // last bucket moves into its place. The analysis cannot follow two locks that
  // are only tried, never waited for.
  bool RemoveIf(uint32_t slot, Forgettable forgettable)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    Bucket& bucket = At(slot);
    if (!bucket.lock.TryLockIfUnused()) return false;
    Bucket& last = At(size_ - 1);
    if (!forgettable(bucket.state, bucket.limit_id) ||
        (&last != &bucket && !last.lock.TryLockIfUnused())) {
      bucket.lock.Unlock();
      return false;
    }
    index_.erase(index_.find(bucket.fingerprint));
    if (&last != &bucket) Replace(slot, bucket, last);
    Clear(last);
    --size_;
    return true;
  }

  void Replace(uint32_t slot, Bucket& bucket, Bucket& last)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    index_.erase(index_.find(last.fingerprint));
    bucket.fingerprint = last.fingerprint;
    bucket.state = last.state;
    bucket.limit_id = last.limit_id;
    index_.insert(slot);
    bucket.lock.Unlock();
  }

  static void Clear(Bucket& bucket) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    bucket.state = BucketState();
    bucket.limit_id = 0;
    bucket.lock.Unlock();
  }

  // Gives back chunks beyond one spare, and an index far too large.
  void Shrink() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const size_t needed = (size_ + kChunk - 1) / kChunk;
    if (chunks_.size() > needed + 1) {
      chunks_.resize(needed + (needed > 0 ? 1 : 0));
      chunks_.shrink_to_fit();
    }
    if (index_.capacity() > kChunk && index_.size() * 8 < index_.capacity()) {
      index_.rehash(0);
    }
  }

  mutable Mutex mutex_;
  std::vector<std::unique_ptr<Bucket[]>> chunks_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_set<uint32_t, Hash, Equal> index_ ABSL_GUARDED_BY(mutex_);
  uint32_t size_ ABSL_GUARDED_BY(mutex_) = 0;
};

BucketTable::BucketTable(size_t stripes)
    : mask_(stripes - 1), stripes_(new Stripe[stripes]) {}

BucketTable::~BucketTable() = default;

BucketTable::Stripe& BucketTable::StripeOf(
    const Fingerprint& fingerprint) const {
  return stripes_[fingerprint.hi & mask_];
}

LockedBucket BucketTable::FindOrCreate(const Fingerprint& fingerprint)
    ABSL_NO_THREAD_SAFETY_ANALYSIS {
  const Stripe::Acquired acquired =
      StripeOf(fingerprint).Acquire(fingerprint, /*create=*/true);
  if (acquired.created) size_.fetch_add(1, std::memory_order_relaxed);
  if (!acquired.locked) acquired.bucket->lock.LockEnqueued();
  return LockedBucket(*acquired.bucket);
}

std::optional<LockedBucket> BucketTable::Find(const Fingerprint& fingerprint)
    ABSL_NO_THREAD_SAFETY_ANALYSIS {
  const Stripe::Acquired acquired =
      StripeOf(fingerprint).Acquire(fingerprint, /*create=*/false);
  if (acquired.bucket == nullptr) return std::nullopt;
  if (!acquired.locked) acquired.bucket->lock.LockEnqueued();
  return LockedBucket(*acquired.bucket);
}

size_t BucketTable::Sweep(size_t max_buckets, Forgettable forgettable) {
  // A stripe's lock is held for this many buckets at most, so that a check
  // never waits long for the sweep.
  constexpr size_t kHold = 128;
  MutexLock lock(sweep_mutex_);
  size_t removed = 0;
  size_t visited = 0;  // stripes, so that an empty table ends the loop
  while (max_buckets > 0 && visited <= mask_) {
    Stripe& stripe = stripes_[sweep_stripe_];
    const size_t grant = std::min(max_buckets, kHold);
    size_t left = grant;
    removed += stripe.Sweep(&sweep_slot_, &left, forgettable);
    max_buckets -= grant - left;
    if (stripe.Done(sweep_slot_)) {
      sweep_stripe_ = (sweep_stripe_ + 1) & mask_;
      sweep_slot_ = 0;
      ++visited;
    }
  }
  size_.fetch_sub(removed, std::memory_order_relaxed);
  swept_.fetch_add(removed, std::memory_order_relaxed);
  return removed;
}

}  // namespace tollgate
