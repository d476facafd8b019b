#include "server/limiter/token_bucket.h"

#include <algorithm>

#include "absl/numeric/int128.h"

namespace tollgate {
namespace {

struct State {
  int64_t full_at_ns;     // the bucket is full from here on
  int64_t seen_ns;        // the latest instant of a take or refund
  uint32_t full_at_part;  // in 1/tokens of a nanosecond
  uint32_t unused;
};

// The time in which `cost` tokens, at most 2^32-1, refill: cost * period /
// tokens.
ExactDuration RefillTime(const Limit& limit, uint64_t cost) {
  const ExactDuration one = limit.token_time();
  if (cost == 1) return one;
  // one.part and cost are below 2^32. A cost above the burst could overflow the
  // nanoseconds, and is never asked for.
  const uint64_t parts = one.part * cost;
  return {one.ns * static_cast<int64_t>(cost) +
              static_cast<int64_t>(parts / limit.tokens()),
          parts % limit.tokens()};
}

ExactDuration Add(const Limit& limit, ExactDuration a, ExactDuration b) {
  const uint64_t part = a.part + b.part;
  const uint64_t tokens = limit.tokens();
  return part < tokens ? ExactDuration{a.ns + b.ns, part}
                       : ExactDuration{a.ns + b.ns + 1, part - tokens};
}

// a - b; the result may be negative.
ExactDuration Subtract(const Limit& limit, ExactDuration a, ExactDuration b) {
  return a.part >= b.part
             ? ExactDuration{a.ns - b.ns, a.part - b.part}
             : ExactDuration{a.ns - b.ns - 1, a.part + limit.tokens() - b.part};
}

int64_t RoundUp(ExactDuration t) { return t.ns + (t.part > 0 ? 1 : 0); }

// The time that the missing tokens take to refill, as of `now_ns`, which is
// not before the bucket's own time.
ExactDuration Missing(const State& state, int64_t now_ns) {
  if (state.full_at_ns < now_ns) return {0, 0};
  return {state.full_at_ns - now_ns, state.full_at_part};
}

// Whole tokens that are there while `missing` is missing: those missing are
// missing * tokens / period, rounded up.
uint64_t Remaining(const Limit& limit, ExactDuration missing) {
  const absl::uint128 scaled =
      absl::uint128(static_cast<uint64_t>(missing.ns)) * limit.tokens() +
      missing.part;
  const auto period = static_cast<uint64_t>(limit.period_ns());
  const uint64_t low = absl::Uint128Low64(scaled);
  uint64_t spent = 0;
  if (absl::Uint128High64(scaled) == 0) {
    spent = low / period + (low % period != 0 ? 1 : 0);
  } else {
    spent = absl::Uint128Low64((scaled + (period - 1)) / period);
  }
  return spent >= limit.burst() ? 0 : limit.burst() - spent;
}

Verdict Judge(const Limit& limit, ExactDuration missing, ExactDuration after) {
  const ExactDuration fill = limit.fill_time();
  Verdict verdict;
  verdict.allowed = !(fill < after);
  if (!verdict.allowed) {
    verdict.retry_after_ns = RoundUp(Subtract(limit, after, fill));
  }
  verdict.reset_after_ns = RoundUp(missing);
  return verdict;
}

class TokenBucketAlgorithm final : public Algorithm {
 public:
  absl::string_view name() const override { return "token_bucket"; }

  absl::Status Validate(const Limit&) const override {
    return absl::OkStatus();
  }

  uint64_t Capacity(const Limit& limit) const override { return limit.burst(); }

  Verdict Take(BucketState& bucket, const Limit& limit, uint64_t cost,
               int64_t now_ns) const override {
    auto state = bucket.As<State>();
    now_ns = std::max(now_ns, state.seen_ns);
    const ExactDuration missing = Missing(state, now_ns);
    const ExactDuration after = Add(limit, missing, RefillTime(limit, cost));
    Verdict verdict = Judge(limit, missing, after);
    if (!verdict.allowed) {
      verdict.remaining = Remaining(limit, missing);
      return verdict;
    }
    verdict.remaining = Remaining(limit, after);
    verdict.reset_after_ns = RoundUp(after);
    Store(bucket, after, now_ns);
    return verdict;
  }

  Verdict Peek(const BucketState& bucket, const Limit& limit, uint64_t cost,
               int64_t now_ns) const override {
    const auto state = bucket.As<State>();
    const ExactDuration missing =
        Missing(state, std::max(now_ns, state.seen_ns));
    Verdict verdict =
        Judge(limit, missing, Add(limit, missing, RefillTime(limit, cost)));
    verdict.remaining = Remaining(limit, missing);
    return verdict;
  }

  void Refund(BucketState& bucket, const Limit& limit, uint64_t cost,
              int64_t now_ns) const override {
    const auto state = bucket.As<State>();
    now_ns = std::max(now_ns, state.seen_ns);
    const ExactDuration missing = Missing(state, now_ns);
    const ExactDuration back = RefillTime(limit, cost);
    Store(bucket,
          missing < back ? ExactDuration{0, 0} : Subtract(limit, missing, back),
          now_ns);
  }

  // Not before the bucket's own time either: an untouched bucket would start
  // earlier, and the time in between would refill twice.
  bool IsForgettable(const BucketState& bucket, const Limit&,
                     int64_t now_ns) const override {
    return Missing(bucket.As<State>(), now_ns) == ExactDuration{0, 0};
  }

  // Spent tokens are missing * tokens / period; under the new limit they take
  // spent * period' / tokens' to refill, rounded up in 1/tokens' of a ns.
  void Rescale(BucketState& bucket, const Limit& from, const Limit& to,
               int64_t now_ns) const override {
    const auto state = bucket.As<State>();
    now_ns = std::max(now_ns, state.seen_ns);
    const ExactDuration missing = Missing(state, now_ns);
    const absl::uint128 scaled =
        absl::uint128(static_cast<uint64_t>(missing.ns)) * from.tokens() +
        missing.part;
    const auto from_period = static_cast<uint64_t>(from.period_ns());
    const auto to_period = static_cast<uint64_t>(to.period_ns());
    const absl::uint128 whole = scaled / from_period;
    if (whole >= to.burst()) {
      Store(bucket, to.fill_time(), now_ns);
      return;
    }
    const absl::uint128 fraction = scaled % from_period;
    const absl::uint128 refill =
        whole * to_period +
        (fraction * to_period + (from_period - 1)) / from_period;
    Store(bucket,
          {static_cast<int64_t>(absl::Uint128Low64(refill / to.tokens())),
           absl::Uint128Low64(refill % to.tokens())},
          now_ns);
  }

 private:
  static void Store(BucketState& bucket, ExactDuration missing,
                    int64_t now_ns) {
    bucket.Set(State{now_ns + missing.ns, now_ns,
                     static_cast<uint32_t>(missing.part), 0});
  }
};

}  // namespace

const Algorithm& TokenBucket() {
  static const TokenBucketAlgorithm algorithm;
  return algorithm;
}

}  // namespace tollgate
