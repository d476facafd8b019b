#include "server/limiter/penalty.h"

#include <algorithm>
#include <vector>

#include "server/limiter/gcra.h"
#include "server/limiter/token_bucket.h"

namespace tollgate {
namespace {

// The state of the token bucket that counts refusals, or, where `flag` is
// kBlocked, the end of the block in place of `full_at_ns`.
constexpr uint32_t kBlocked = 1;

bool IsBlocked(const gcra::State& state, int64_t now_ns) {
  return state.flag == kBlocked && state.full_at_ns > now_ns;
}

class PenaltyAlgorithm final : public Algorithm {
 public:
  [[nodiscard]] absl::string_view name() const override { return "penalty"; }

  [[nodiscard]] absl::Status Validate(const Limit& limit) const override {
    return limit.hold_ns() > 0
               ? absl::OkStatus()
               : absl::InvalidArgumentError("wants a block above 0");
  }

  [[nodiscard]] uint64_t Capacity(const Limit& limit) const override {
    return limit.burst();
  }

  Verdict Take(BucketState& bucket, const Limit& limit, const Ask& ask,
               int64_t now_ns) const override {
    auto state = bucket.As<gcra::State>();
    now_ns = std::max(now_ns, state.seen_ns);
    if (IsBlocked(state, now_ns)) return Blocked(state, now_ns);
    if (state.flag == kBlocked) bucket.Set(gcra::State{0, now_ns, 0, 0});
    const Verdict verdict =
        TokenBucket().Take(bucket, *limit.WithHold({}), ask, now_ns);
    if (verdict.allowed) return verdict;
    state = gcra::State{now_ns + limit.hold_ns(), now_ns, 0, kBlocked};
    bucket.Set(state);
    return Blocked(state, now_ns);
  }

  [[nodiscard]] Verdict Peek(const BucketState& bucket, const Limit& /*limit*/,
                             const Ask& /*ask*/,
                             int64_t now_ns) const override {
    const auto state = bucket.As<gcra::State>();
    now_ns = std::max(now_ns, state.seen_ns);
    if (IsBlocked(state, now_ns)) return Blocked(state, now_ns);
    Verdict verdict;
    verdict.allowed = true;
    verdict.at_ns = now_ns;
    return verdict;
  }

  // A refusal happened; it is not given back.
  void Refund(BucketState&, const Limit&, const Ask&, int64_t,
              int64_t) const override {}

  [[nodiscard]] bool IsForgettable(const BucketState& bucket,
                                   const Limit& /*limit*/,
                                   int64_t now_ns) const override {
    const auto state = bucket.As<gcra::State>();
    if (state.flag == kBlocked) return state.full_at_ns <= now_ns;
    return gcra::Missing(state, now_ns) == ExactDuration{0, 0};
  }

  // A block stays as it is.
  void Rescale(BucketState& bucket, const Limit& from, const Limit& to,
               int64_t now_ns) const override {
    if (bucket.As<gcra::State>().flag == kBlocked) return;
    TokenBucket().Rescale(bucket, *from.WithHold({}), *to.WithHold({}), now_ns);
  }

  // Of a blocked key one number, when that ends. Else those of its tokens.
  void Save(const BucketState& bucket, const Limit& limit, int64_t at_ns,
            std::vector<int64_t>& numbers) const override {
    const auto state = bucket.As<gcra::State>();
    if (state.flag == kBlocked) {
      numbers.push_back(state.full_at_ns - at_ns);
    } else {
      TokenBucket().Save(bucket, limit, at_ns, numbers);
    }
  }

  [[nodiscard]] bool Restore(const SavedState& saved, const Limit& limit,
                             int64_t now_ns,
                             BucketState& bucket) const override {
    if (saved.numbers.size() != 1) {
      return TokenBucket().Restore(saved, *limit.WithHold({}), now_ns, bucket);
    }
    const int64_t until_ns =
        std::clamp(saved.AfterAsOf(now_ns, saved.numbers[0]), now_ns,
                   now_ns + limit.hold_ns());
    bucket.Set(gcra::State{until_ns, now_ns, 0, kBlocked});
    return true;
  }

 private:
  static Verdict Blocked(const gcra::State& state, int64_t now_ns) {
    Verdict verdict;
    verdict.retry_after_ns = state.full_at_ns - now_ns;
    verdict.reset_after_ns = verdict.retry_after_ns;
    verdict.at_ns = now_ns;
    return verdict;
  }
};

}  // namespace

const Algorithm& Penalty() {
  static const PenaltyAlgorithm algorithm;
  return algorithm;
}

}  // namespace tollgate
