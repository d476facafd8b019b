#ifndef TOLLGATE_TESTS_LIMITER_ONE_BUCKET_H_
#define TOLLGATE_TESTS_LIMITER_ONE_BUCKET_H_

#include <cstdint>
#include <limits>

#include "server/limiter/algorithm.h"
#include "server/limiter/limit.h"
#include "tests/limiter/limits.h"

namespace tollgate {

// One bucket of any algorithm under one limit that a test can replace.
class OneBucket {
 public:
  OneBucket(const Algorithm& algorithm, const Limit& limit)
      : algorithm_(algorithm), limit_(limit) {}
  ~OneBucket() { Trim(std::numeric_limits<int64_t>::max()); }
  OneBucket(const OneBucket&) = delete;
  OneBucket& operator=(const OneBucket&) = delete;

  Verdict Take(const Ask& ask, int64_t now_ns) {
    return algorithm_.Take(state_, limit_, ask, now_ns);
  }
  Verdict Take(uint64_t cost, int64_t now_ns) {
    return Take(Ask{cost, 0, 0}, now_ns);
  }
  [[nodiscard]] Verdict Peek(const Ask& ask, int64_t now_ns) const {
    return algorithm_.Peek(state_, limit_, ask, now_ns);
  }
  [[nodiscard]] Verdict Peek(uint64_t cost, int64_t now_ns) const {
    return Peek(Ask{cost, 0, 0}, now_ns);
  }
  void Refund(const Ask& ask, int64_t taken_at_ns, int64_t now_ns) {
    algorithm_.Refund(state_, limit_, ask, taken_at_ns, now_ns);
  }
  void Refund(uint64_t cost, int64_t taken_at_ns, int64_t now_ns) {
    Refund(Ask{cost, 0, 0}, taken_at_ns, now_ns);
  }
  void Rescale(const Limit& to, int64_t now_ns) {
    algorithm_.Rescale(state_, limit_, to, now_ns);
    limit_ = to;
  }
  [[nodiscard]] bool IsForgettable(int64_t now_ns) const {
    return algorithm_.IsForgettable(state_, limit_, now_ns);
  }
  void Trim(int64_t now_ns) { algorithm_.Trim(state_, limit_, now_ns); }

  [[nodiscard]] uint64_t Remaining(int64_t now_ns) const {
    return Peek(1, now_ns).remaining;
  }
  [[nodiscard]] BucketState state() const { return state_; }
  [[nodiscard]] const Limit& limit() const { return limit_; }
  [[nodiscard]] const Algorithm& algorithm() const { return algorithm_; }

 private:
  const Algorithm& algorithm_;
  BucketState state_;
  Limit limit_;
};

}  // namespace tollgate

#endif  // TOLLGATE_TESTS_LIMITER_ONE_BUCKET_H_
