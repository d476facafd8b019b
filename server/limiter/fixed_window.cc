#include "server/limiter/fixed_window.h"

#include <algorithm>
#include <vector>

#include "server/limiter/window.h"

namespace tollgate {
namespace {

struct State {
  int64_t start_ns;  // of the window that `count` is of
  uint64_t count;
};

// The state as of `now_ns`. A bucket never goes back to an earlier window.
State At(const BucketState& bucket, const Limit& limit, int64_t now_ns) {
  const auto state = bucket.As<State>();
  const int64_t start_ns = window::Start(now_ns, limit.period_ns());
  if (start_ns <= state.start_ns) return state;
  return {start_ns, 0};
}

Verdict Judge(const State& state, const Limit& limit, const Ask& ask,
              int64_t now_ns) {
  Verdict verdict;
  verdict.at_ns = std::max(now_ns, state.start_ns);
  const int64_t end_in_ns = state.start_ns + limit.period_ns() - verdict.at_ns;
  verdict.allowed = state.count + ask.cost + ask.reserved <= limit.tokens();
  if (!verdict.allowed) verdict.retry_after_ns = end_in_ns;
  verdict.remaining = window::Left(limit.tokens(), state.count);
  verdict.reset_after_ns = state.count > 0 ? end_in_ns : 0;
  return verdict;
}

class FixedWindowAlgorithm final : public Algorithm {
 public:
  [[nodiscard]] absl::string_view name() const override {
    return "fixed_window";
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
    state.count += ask.cost;
    bucket.Set(state);
    verdict.remaining = window::Left(limit.tokens(), state.count);
    verdict.reset_after_ns = state.start_ns + limit.period_ns() - verdict.at_ns;
    return verdict;
  }

  [[nodiscard]] Verdict Peek(const BucketState& bucket, const Limit& limit,
                             const Ask& ask, int64_t now_ns) const override {
    return Judge(At(bucket, limit, now_ns), limit, ask, now_ns);
  }

  void Refund(BucketState& bucket, const Limit& limit, const Ask& ask,
              int64_t taken_at_ns, int64_t now_ns) const override {
    State state = At(bucket, limit, now_ns);
    if (taken_at_ns < state.start_ns) return;  // that window is over
    state.count = window::Left(state.count, ask.cost);
    bucket.Set(state);
  }

  [[nodiscard]] bool IsForgettable(const BucketState& bucket,
                                   const Limit& limit,
                                   int64_t now_ns) const override {
    const auto state = bucket.As<State>();
    // Before its own window, a new bucket would open an earlier one again.
    return state.count == 0 ? now_ns >= state.start_ns
                            : now_ns - state.start_ns >= limit.period_ns();
  }

  void Rescale(BucketState& bucket, const Limit& from, const Limit& to,
               int64_t now_ns) const override {
    State state = At(bucket, from, now_ns);
    state.start_ns =
        window::Start(std::max(now_ns, state.start_ns), to.period_ns());
    state.count = std::min<uint64_t>(state.count, to.tokens());
    bucket.Set(state);
  }

  // Two numbers: the start of the window, and its count.
  void Save(const BucketState& bucket, const Limit& /*limit*/, int64_t at_ns,
            std::vector<int64_t>& numbers) const override {
    const auto state = bucket.As<State>();
    numbers.push_back(state.start_ns - at_ns);
    numbers.push_back(static_cast<int64_t>(state.count));
  }

  // Where the clock went back before the window began, the count is of the
  // window that runs, so that nobody waits for longer than that.
  [[nodiscard]] bool Restore(const SavedState& saved, const Limit& limit,
                             int64_t now_ns,
                             BucketState& bucket) const override {
    if (saved.numbers.size() != 2) return false;
    const int64_t began_ns =
        std::clamp<int64_t>(saved.After(saved.numbers[0]), 0, now_ns);
    bucket.Set(State{window::Start(began_ns, limit.period_ns()),
                     std::min<uint64_t>(static_cast<uint64_t>(saved.numbers[1]),
                                        limit.tokens())});
    return true;
  }
};

}  // namespace

const Algorithm& FixedWindow() {
  static const FixedWindowAlgorithm algorithm;
  return algorithm;
}

}  // namespace tollgate
