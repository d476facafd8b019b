#ifndef TOLLGATE_SERVER_LIMITER_LOCKED_BUCKET_H_
#define TOLLGATE_SERVER_LIMITER_LOCKED_BUCKET_H_

#include <cstdint>
#include <utility>

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

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_LIMITER_LOCKED_BUCKET_H_
