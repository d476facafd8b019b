#ifndef TOLLGATE_SERVER_LIMITER_GCRA_H_
#define TOLLGATE_SERVER_LIMITER_GCRA_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/numeric/int128.h"
#include "server/limiter/algorithm.h"
#include "server/limiter/limit.h"

// The exact arithmetic of the generic cell rate algorithm: see token_bucket.h.
namespace tollgate::gcra {

struct State {
  int64_t full_at_ns;     // the bucket is full from here on
  int64_t seen_ns;        // the latest instant of a take or refund
  uint32_t full_at_part;  // in 1/tokens of a nanosecond
  uint32_t flag;          // for whoever builds on it
};

// The time in which `cost` tokens, at most 2^32-1, refill: cost * period /
// tokens.
inline ExactDuration RefillTime(const Limit& limit, uint64_t cost) {
  const ExactDuration one = limit.token_time();
  if (cost == 1) return one;
  // one.part and cost are below 2^32. A cost above the burst could overflow the
  // nanoseconds, and is never asked for.
  const uint64_t parts = one.part * cost;
  return {one.ns * static_cast<int64_t>(cost) +
              static_cast<int64_t>(parts / limit.tokens()),
          parts % limit.tokens()};
}

inline ExactDuration Add(const Limit& limit, ExactDuration a, ExactDuration b) {
  const uint64_t part = a.part + b.part;
  const uint64_t tokens = limit.tokens();
  return part < tokens ? ExactDuration{a.ns + b.ns, part}
                       : ExactDuration{a.ns + b.ns + 1, part - tokens};
}

// a - b; the result may be negative.
inline ExactDuration Subtract(const Limit& limit, ExactDuration a,
                              ExactDuration b) {
  return a.part >= b.part
             ? ExactDuration{a.ns - b.ns, a.part - b.part}
             : ExactDuration{a.ns - b.ns - 1, a.part + limit.tokens() - b.part};
}

inline int64_t RoundUp(ExactDuration t) { return t.ns + (t.part > 0 ? 1 : 0); }

// The time that the missing tokens take to refill, as of `now_ns`, which is
// not before the bucket's own time.
inline ExactDuration Missing(const State& state, int64_t now_ns) {
  if (state.full_at_ns < now_ns) return {0, 0};
  return {state.full_at_ns - now_ns, state.full_at_part};
}

// `missing` in tokens, times the period: 1/tokens of a nanosecond each.
inline absl::uint128 Scaled(const Limit& limit, ExactDuration missing) {
  return absl::uint128(static_cast<uint64_t>(missing.ns)) * limit.tokens() +
         missing.part;
}

// Whole tokens that are there while `missing` is missing: those missing are
// missing * tokens / period, rounded up.
inline uint64_t Remaining(const Limit& limit, ExactDuration missing) {
  const absl::uint128 scaled = Scaled(limit, missing);
  uint64_t spent = 0;
  if (absl::Uint128High64(scaled) == 0) {
    spent = limit.PeriodsIn(absl::Uint128Low64(scaled));
  } else {
    const auto period = static_cast<uint64_t>(limit.period_ns());
    spent = absl::Uint128Low64((scaled + (period - 1)) / period);
  }
  return spent >= limit.burst() ? 0 : limit.burst() - spent;
}

// What token_bucket and leaky_bucket share: they are the same arithmetic, with
// a limit's hold of zero and above it.
class GcraAlgorithm : public Algorithm {
 public:
  [[nodiscard]] uint64_t Capacity(const Limit& limit) const final;
  Verdict Take(BucketState& bucket, const Limit& limit, const Ask& ask,
               int64_t now_ns) const final;
  [[nodiscard]] Verdict Peek(const BucketState& bucket, const Limit& limit,
                             const Ask& ask, int64_t now_ns) const final;
  void Refund(BucketState& bucket, const Limit& limit, const Ask& ask,
              int64_t taken_at_ns, int64_t now_ns) const final;
  [[nodiscard]] bool IsForgettable(const BucketState& bucket,
                                   const Limit& limit,
                                   int64_t now_ns) const final;
  void Rescale(BucketState& bucket, const Limit& from, const Limit& to,
               int64_t now_ns) const final;
  // Two numbers: when the bucket is full again, in nanoseconds and its part.
  void Save(const BucketState& bucket, const Limit& limit, int64_t at_ns,
            std::vector<int64_t>& numbers) const final;
  [[nodiscard]] bool Restore(const SavedState& saved, const Limit& limit,
                             int64_t now_ns, BucketState& bucket) const final;
};

}  // namespace tollgate::gcra

#endif  // TOLLGATE_SERVER_LIMITER_GCRA_H_
