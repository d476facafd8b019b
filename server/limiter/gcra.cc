#include "server/limiter/gcra.h"

namespace tollgate::gcra {
namespace {

void Store(BucketState& bucket, ExactDuration missing, int64_t now_ns) {
  bucket.Set(State{now_ns + missing.ns, now_ns,
                   static_cast<uint32_t>(missing.part), 0});
}

// `missing` is missing now, and `after` once `ask` is taken.
Verdict Judge(const Limit& limit, const Ask& ask, ExactDuration missing,
              ExactDuration after) {
  const ExactDuration room =
      ask.reserved == 0 ? limit.fill_time()
                        : RefillTime(limit, limit.burst() - ask.reserved);
  Verdict verdict;
  verdict.reset_after_ns = RoundUp(missing);
  if (!(room < after)) {
    verdict.allowed = true;
    return verdict;
  }
  const int64_t excess_ns = RoundUp(Subtract(limit, after, room));
  verdict.allowed = excess_ns <= limit.hold_ns();
  if (verdict.allowed) {
    verdict.delay_ns = excess_ns;
  } else {
    verdict.retry_after_ns = excess_ns - limit.hold_ns();
  }
  return verdict;
}

}  // namespace

// Also where a hold would let more fill: what goes ahead at one instant must
// not be above the burst.
uint64_t GcraAlgorithm::Capacity(const Limit& limit) const {
  return limit.burst();
}

Verdict GcraAlgorithm::Take(BucketState& bucket, const Limit& limit,
                            const Ask& ask, int64_t now_ns) const {
  const auto state = bucket.As<State>();
  now_ns = std::max(now_ns, state.seen_ns);
  const ExactDuration missing = Missing(state, now_ns);
  const ExactDuration after = Add(limit, missing, RefillTime(limit, ask.cost));
  Verdict verdict = Judge(limit, ask, missing, after);
  verdict.at_ns = now_ns;
  if (!verdict.allowed) {
    verdict.remaining = Remaining(limit, missing);
    return verdict;
  }
  verdict.remaining = Remaining(limit, after);
  verdict.reset_after_ns = RoundUp(after);
  Store(bucket, after, now_ns);
  return verdict;
}

Verdict GcraAlgorithm::Peek(const BucketState& bucket, const Limit& limit,
                            const Ask& ask, int64_t now_ns) const {
  const auto state = bucket.As<State>();
  now_ns = std::max(now_ns, state.seen_ns);
  const ExactDuration missing = Missing(state, now_ns);
  Verdict verdict = Judge(limit, ask, missing,
                          Add(limit, missing, RefillTime(limit, ask.cost)));
  verdict.remaining = Remaining(limit, missing);
  verdict.at_ns = now_ns;
  return verdict;
}

void GcraAlgorithm::Refund(BucketState& bucket, const Limit& limit,
                           const Ask& ask, int64_t /*taken_at_ns*/,
                           int64_t now_ns) const {
  const auto state = bucket.As<State>();
  now_ns = std::max(now_ns, state.seen_ns);
  const ExactDuration missing = Missing(state, now_ns);
  const ExactDuration back = RefillTime(limit, ask.cost);
  Store(bucket,
        missing < back ? ExactDuration{0, 0} : Subtract(limit, missing, back),
        now_ns);
}

// Not before the bucket's own time either: an untouched bucket would start
// earlier, and the time in between would refill twice.
bool GcraAlgorithm::IsForgettable(const BucketState& bucket, const Limit&,
                                  int64_t now_ns) const {
  return Missing(bucket.As<State>(), now_ns) == ExactDuration{0, 0};
}

// Spent tokens are missing * tokens / period; under the new limit they take
// spent * period' / tokens' to refill, rounded up in 1/tokens' of a ns.
void GcraAlgorithm::Rescale(BucketState& bucket, const Limit& from,
                            const Limit& to, int64_t now_ns) const {
  const auto state = bucket.As<State>();
  now_ns = std::max(now_ns, state.seen_ns);
  const absl::uint128 scaled = Scaled(from, Missing(state, now_ns));
  const auto from_period = static_cast<uint64_t>(from.period_ns());
  const auto to_period = static_cast<uint64_t>(to.period_ns());
  const ExactDuration most =
      Add(to, to.fill_time(), ExactDuration{to.hold_ns(), 0});
  const absl::uint128 whole = scaled / from_period;
  if (whole > 0xFFFFFFFF) {
    Store(bucket, most, now_ns);
    return;
  }
  const absl::uint128 fraction = scaled % from_period;
  const absl::uint128 refill =
      whole * to_period +
      (fraction * to_period + (from_period - 1)) / from_period;
  const absl::uint128 refill_ns = refill / to.tokens();
  const ExactDuration missing =
      refill_ns > static_cast<uint64_t>(most.ns)
          ? most
          : ExactDuration{static_cast<int64_t>(absl::Uint128Low64(refill_ns)),
                          absl::Uint128Low64(refill % to.tokens())};
  Store(bucket, std::min(missing, most), now_ns);
}

void GcraAlgorithm::Save(const BucketState& bucket, const Limit& /*limit*/,
                         int64_t at_ns, std::vector<int64_t>& numbers) const {
  const ExactDuration missing = Missing(bucket.As<State>(), at_ns);
  numbers.push_back(missing.ns);
  numbers.push_back(static_cast<int64_t>(missing.part));
}

bool GcraAlgorithm::Restore(const SavedState& saved, const Limit& limit,
                            int64_t now_ns, BucketState& bucket) const {
  if (saved.numbers.size() != 2) return false;
  const auto part = static_cast<uint64_t>(saved.numbers[1]);
  if (part >= limit.tokens()) return false;
  const ExactDuration missing = {
      std::max<int64_t>(saved.AfterAsOf(now_ns, saved.numbers[0]) - now_ns, -1),
      part};
  const ExactDuration most =
      Add(limit, limit.fill_time(), ExactDuration{limit.hold_ns(), 0});
  Store(bucket, missing.ns < 0 ? ExactDuration{} : std::min(missing, most),
        now_ns);
  return true;
}

}  // namespace tollgate::gcra
