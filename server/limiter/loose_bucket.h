#ifndef TOLLGATE_SERVER_LIMITER_LOOSE_BUCKET_H_
#define TOLLGATE_SERVER_LIMITER_LOOSE_BUCKET_H_

#include <cstdint>
#include <limits>
#include <utility>

#include "server/limiter/algorithm.h"
#include "server/limiter/limit.h"

namespace tollgate {

// A bucket that lies in no table: a copy of one that is kept elsewhere, as it
// was at an instant. Owns what its state owns. A value, to be moved;
// thread-compatible.
class LooseBucket {
 public:
  // One that nobody has touched. `at_ns` is the bucket's own time: nothing
  // happens to it before that.
  LooseBucket(const Algorithm& algorithm, const Limit& limit, int64_t at_ns)
      : algorithm_(&algorithm), limit_(limit), at_ns_(at_ns) {}
  LooseBucket(LooseBucket&& other) noexcept
      : algorithm_(other.algorithm_),
        limit_(other.limit_),
        at_ns_(other.at_ns_),
        state_(std::exchange(other.state_, BucketState())) {}
  LooseBucket& operator=(LooseBucket&& other) noexcept {
    std::swap(algorithm_, other.algorithm_);
    std::swap(limit_, other.limit_);
    std::swap(at_ns_, other.at_ns_);
    std::swap(state_, other.state_);
    return *this;
  }
  ~LooseBucket() {
    if (algorithm_->OwnsMemory()) {
      algorithm_->Trim(state_, limit_, std::numeric_limits<int64_t>::max());
    }
  }

  [[nodiscard]] const Algorithm& algorithm() const { return *algorithm_; }
  [[nodiscard]] const Limit& limit() const { return limit_; }
  [[nodiscard]] int64_t at_ns() const { return at_ns_; }
  [[nodiscard]] BucketState& state() { return state_; }
  [[nodiscard]] const BucketState& state() const { return state_; }

  // Turns it into one under `limit`: what is spent stays spent.
  void CarryOver(const Limit& limit) {
    algorithm_->Rescale(state_, limit_, limit, at_ns_);
    limit_ = limit;
  }

 private:
  const Algorithm* algorithm_;
  Limit limit_;
  int64_t at_ns_;
  BucketState state_;
};

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_LIMITER_LOOSE_BUCKET_H_
