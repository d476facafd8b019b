#ifndef TOLLGATE_TESTS_LIMITER_ONE_TOKEN_BUCKET_H_
#define TOLLGATE_TESTS_LIMITER_ONE_TOKEN_BUCKET_H_

#include <cstdint>

#include "absl/numeric/int128.h"
#include "server/limiter/token_bucket.h"

namespace tollgate {

// The time in which `cost` tokens refill, rounded up to a nanosecond.
inline int64_t RefillNs(const Limit& limit, uint64_t cost) {
  const absl::uint128 product =
      absl::uint128(cost) * static_cast<uint64_t>(limit.period_ns());
  return static_cast<int64_t>(
      absl::Uint128Low64((product + limit.tokens() - 1) / limit.tokens()));
}

// One bucket under one limit that a test can replace.
class OneTokenBucket {
 public:
  explicit OneTokenBucket(const Limit& limit) : limit_(limit) {}

  Verdict Take(uint64_t cost, int64_t now_ns) {
    return TokenBucket().Take(state_, limit_, {cost}, now_ns);
  }
  Verdict Peek(uint64_t cost, int64_t now_ns) const {
    return TokenBucket().Peek(state_, limit_, {cost}, now_ns);
  }
  void Refund(uint64_t cost, int64_t now_ns) {
    TokenBucket().Refund(state_, limit_, {cost}, now_ns, now_ns);
  }
  void Rescale(const Limit& to, int64_t now_ns) {
    TokenBucket().Rescale(state_, limit_, to, now_ns);
    limit_ = to;
  }
  bool IsForgettable(int64_t now_ns) const {
    return TokenBucket().IsForgettable(state_, limit_, now_ns);
  }
  uint64_t Remaining(int64_t now_ns) const { return Peek(1, now_ns).remaining; }
  BucketState state() const { return state_; }

 private:
  BucketState state_;
  Limit limit_;
};

}  // namespace tollgate

#endif  // TOLLGATE_TESTS_LIMITER_ONE_TOKEN_BUCKET_H_
