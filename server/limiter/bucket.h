#ifndef TOLLGATE_SERVER_LIMITER_BUCKET_H_
#define TOLLGATE_SERVER_LIMITER_BUCKET_H_

#include <atomic>
#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "server/base/keyed_hash.h"
#include "server/limiter/algorithm.h"

namespace tollgate {

// A four-byte lock that counts those who wait for it. Enqueue() is called under
// the stripe's mutex; once it has returned, the bucket stays where it is until
// Unlock(), because the sweep takes only buckets whose lock is quite free.
class ABSL_LOCKABLE BucketLock {
 public:
  // Takes the lock if it is free, also past those who wait.
  bool TryLock() ABSL_EXCLUSIVE_TRYLOCK_FUNCTION(true) {
    uint32_t word = word_.load(std::memory_order_relaxed);
    return (word & kLocked) == 0 &&
           word_.compare_exchange_strong(word, word | kLocked,
                                         std::memory_order_acquire,
                                         std::memory_order_relaxed);
  }
  // Takes the lock if nobody holds it and nobody waits.
  bool TryLockIfUnused() ABSL_EXCLUSIVE_TRYLOCK_FUNCTION(true) {
    uint32_t unused = 0;
    return word_.compare_exchange_strong(
        unused, kLocked, std::memory_order_acquire, std::memory_order_relaxed);
  }
  // Announces a LockEnqueued().
  void Enqueue() { word_.fetch_add(kWaiter, std::memory_order_relaxed); }
  // Waits for the lock; once for each Enqueue().
  void LockEnqueued() ABSL_EXCLUSIVE_LOCK_FUNCTION();
  void Unlock() ABSL_UNLOCK_FUNCTION() {
    const uint32_t before = word_.fetch_sub(kLocked, std::memory_order_release);
    if (before != kLocked) word_.notify_one();
  }

 private:
  static constexpr uint32_t kLocked = 1;
  static constexpr uint32_t kWaiter = 2;

  // kLocked plus kWaiter for each thread that waits; the lock itself.
  std::atomic<uint32_t> word_{0};
};

// What is remembered of one key under one limit: 48 bytes.
struct Bucket {
  Fingerprint fingerprint;  // written under the stripe's mutex
  BucketState state ABSL_GUARDED_BY(lock);
  uint32_t limit_id ABSL_GUARDED_BY(lock) = 0;  // 0: never decided
  BucketLock lock;
};
static_assert(sizeof(Bucket) == 48);

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_LIMITER_BUCKET_H_
