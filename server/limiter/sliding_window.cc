#include "server/limiter/sliding_window.h"

#include <algorithm>
#include <vector>

#include "absl/numeric/int128.h"
#include "server/limiter/window.h"

namespace tollgate {
namespace {

struct State {
  int64_t start_ns;  // of the window that `count` is of
  uint32_t count;
  uint32_t previous;  // the count of the window before
};

// The state as of `now_ns`. A bucket never goes back to an earlier window.
State At(const BucketState& bucket, const Limit& limit, int64_t now_ns) {
  auto state = bucket.As<State>();
  const int64_t start_ns = window::Start(now_ns, limit.period_ns());
  if (start_ns <= state.start_ns) return state;
  const bool adjacent = start_ns - state.start_ns == limit.period_ns();
  return {start_ns, 0, adjacent ? state.count : 0};
}

// How much of `previous` counts `elapsed_ns` into the window, rounded up.
uint64_t Weighted(uint32_t previous, int64_t period_ns, int64_t elapsed_ns) {
  const auto period = static_cast<uint64_t>(period_ns);
  return absl::Uint128Low64(
      (absl::uint128(previous) * static_cast<uint64_t>(period_ns - elapsed_ns) +
       (period - 1)) /
      period);
}

// How far into a window `previous` weighs at most `room`: the least e with
// previous * (period - e) <= room * period. `room` is below `previous`.
int64_t UntilWeighs(uint32_t previous, int64_t period_ns, uint64_t room) {
  return period_ns - static_cast<int64_t>(absl::Uint128Low64(
                         absl::uint128(room) *
                         static_cast<uint64_t>(period_ns) / previous));
}

uint64_t Spent(const State& state, const Limit& limit, int64_t now_ns) {
  return state.count +
         Weighted(state.previous, limit.period_ns(), now_ns - state.start_ns);
}

int64_t RetryAfter(const State& state, const Limit& limit, uint64_t wanted,
                   int64_t now_ns) {
  const int64_t elapsed_ns = now_ns - state.start_ns;
  // In this window, once `previous` weighs little enough ...
  if (state.count + wanted <= limit.tokens()) {
    const uint64_t room = limit.tokens() - state.count - wanted;
    const int64_t at_ns = UntilWeighs(state.previous, limit.period_ns(), room);
    if (at_ns < limit.period_ns()) return at_ns - elapsed_ns;
  }
  // ... or in the next, where `count` is the previous one.
  const uint64_t room = limit.tokens() - wanted;
  const int64_t next_ns = limit.period_ns() - elapsed_ns;
  if (state.count <= room) return next_ns;
  return next_ns + UntilWeighs(state.count, limit.period_ns(), room);
}

int64_t ResetAfter(const State& state, const Limit& limit, int64_t now_ns) {
  const int64_t next_ns = state.start_ns + limit.period_ns() - now_ns;
  if (state.count > 0) return next_ns + limit.period_ns();
  return state.previous > 0 ? next_ns : 0;
}

Verdict Judge(const State& state, const Limit& limit, const Ask& ask,
              int64_t now_ns) {
  Verdict verdict;
  verdict.at_ns = std::max(now_ns, state.start_ns);
  const uint64_t spent = Spent(state, limit, verdict.at_ns);
  const uint64_t wanted = ask.cost + ask.reserved;
  verdict.allowed = spent + wanted <= limit.tokens();
  if (!verdict.allowed) {
    verdict.retry_after_ns = RetryAfter(state, limit, wanted, verdict.at_ns);
  }
  verdict.remaining = window::Left(limit.tokens(), spent);
  verdict.reset_after_ns = ResetAfter(state, limit, verdict.at_ns);
  return verdict;
}

class SlidingWindowAlgorithm final : public Algorithm {
 public:
  [[nodiscard]] absl::string_view name() const override {
    return "sliding_window";
  }

  [[nodiscard]] absl::Status Validate(const Limit& limit) const override {
    return window::Validate(name(), limit);
  }

  [[nodiscard]] uint64_t Capacity(const Limit& limit) const override {
    return limit.tokens();
  }

  Verdict Take(BucketState& bucket, const Limit& limit, const Ask& ask,
               int64_t now_ns) const override {
    State state = At(bucket, limit, now_ns);
    Verdict verdict = Judge(state, limit, ask, now_ns);
    if (!verdict.allowed) return verdict;
    state.count += static_cast<uint32_t>(ask.cost);
    bucket.Set(state);
    verdict.remaining =
        window::Left(limit.tokens(), Spent(state, limit, verdict.at_ns));
    verdict.reset_after_ns = ResetAfter(state, limit, verdict.at_ns);
    return verdict;
  }

  [[nodiscard]] Verdict Peek(const BucketState& bucket, const Limit& limit,
                             const Ask& ask, int64_t now_ns) const override {
    return Judge(At(bucket, limit, now_ns), limit, ask, now_ns);
  }

  void Refund(BucketState& bucket, const Limit& limit, const Ask& ask,
              int64_t taken_at_ns, int64_t now_ns) const override {
    State state = At(bucket, limit, now_ns);
    if (taken_at_ns >= state.start_ns) {
      state.count = static_cast<uint32_t>(window::Left(state.count, ask.cost));
    } else if (taken_at_ns >= state.start_ns - limit.period_ns()) {
      state.previous =
          static_cast<uint32_t>(window::Left(state.previous, ask.cost));
    } else {
      return;  // both windows are over
    }
    bucket.Set(state);
  }

  [[nodiscard]] bool IsForgettable(const BucketState& bucket,
                                   const Limit& limit,
                                   int64_t now_ns) const override {
    const State state = At(bucket, limit, now_ns);
    // Before its own window, a new bucket would open an earlier one again.
    return state.count == 0 && state.previous == 0 && now_ns >= state.start_ns;
  }

  // With the same period, counts and windows stay. With another one, what is
  // spent is counted into the window that runs.
  void Rescale(BucketState& bucket, const Limit& from, const Limit& to,
               int64_t now_ns) const override {
    State state = At(bucket, from, now_ns);
    now_ns = std::max(now_ns, state.start_ns);
    const uint64_t spent = Spent(state, from, now_ns);
    if (from.period_ns() != to.period_ns() || spent > to.tokens()) {
      state.start_ns = window::Start(now_ns, to.period_ns());
      state.count =
          static_cast<uint32_t>(std::min<uint64_t>(spent, to.tokens()));
      state.previous = 0;
    }
    bucket.Set(state);
  }

  // Three numbers: the start of the window, its count, and the count of the one
  // before.
  void Save(const BucketState& bucket, const Limit& limit, int64_t at_ns,
            std::vector<int64_t>& numbers) const override {
    const State state = At(bucket, limit, at_ns);
    numbers.push_back(state.start_ns - at_ns);
    numbers.push_back(state.count);
    numbers.push_back(state.previous);
  }

  // Where the clock went back before the window began, what was spent counts
  // into the window that runs, as after a change of period.
  [[nodiscard]] bool Restore(const SavedState& saved, const Limit& limit,
                             int64_t now_ns,
                             BucketState& bucket) const override {
    if (saved.numbers.size() != 3) return false;
    const auto at_most_all = [&limit](int64_t count) {
      return static_cast<uint32_t>(
          std::min<uint64_t>(static_cast<uint64_t>(count), limit.tokens()));
    };
    const int64_t began_ns =
        std::max<int64_t>(saved.After(saved.numbers[0]), 0);
    State state = {window::Start(began_ns, limit.period_ns()),
                   at_most_all(saved.numbers[1]),
                   at_most_all(saved.numbers[2])};
    if (state.start_ns > now_ns) {
      const int64_t at_ns = std::clamp(saved.After(0), state.start_ns,
                                       state.start_ns + limit.period_ns());
      state.count =
          at_most_all(static_cast<int64_t>(Spent(state, limit, at_ns)));
      state.previous = 0;
      state.start_ns = window::Start(now_ns, limit.period_ns());
    }
    bucket.Set(state);
    return true;
  }
};

}  // namespace

const Algorithm& SlidingWindow() {
  static const SlidingWindowAlgorithm algorithm;
  return algorithm;
}

}  // namespace tollgate
