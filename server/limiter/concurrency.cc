#include "server/limiter/concurrency.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "server/limiter/window.h"

namespace tollgate {
namespace {

struct Hold {
  uint64_t ticket;
  uint64_t slots;
  int64_t expires_ns;
};

using Holds = std::vector<Hold>;

struct State {
  Holds* holds;     // owned; null where nothing is held
  int64_t seen_ns;  // the latest instant of a take or refund
};

// Calls `each` for every hold that has not expired at `now_ns`.
template <typename Each>
void ForEachHeld(const State& state, int64_t now_ns, const Each& each) {
  if (state.holds == nullptr) return;
  for (const Hold& hold : *state.holds) {
    if (hold.expires_ns > now_ns) each(hold);
  }
}

// When, at the latest, enough holds have expired that `excess` slots are free.
int64_t UntilFree(const State& state, int64_t now_ns, uint64_t excess) {
  std::vector<Hold> held;
  ForEachHeld(state, now_ns, [&](const Hold& hold) { held.push_back(hold); });
  std::sort(held.begin(), held.end(), [](const Hold& a, const Hold& b) {
    return a.expires_ns < b.expires_ns;
  });
  uint64_t freed = 0;
  for (const Hold& hold : held) {
    freed += hold.slots;
    if (freed >= excess) return hold.expires_ns - now_ns;
  }
  return 0;
}

Verdict Judge(const State& state, const Limit& limit, const Ask& ask,
              int64_t now_ns) {
  uint64_t held = 0;
  int64_t last_ns = now_ns;
  ForEachHeld(state, now_ns, [&](const Hold& hold) {
    held += hold.slots;
    last_ns = std::max(last_ns, hold.expires_ns);
  });
  Verdict verdict;
  verdict.at_ns = now_ns;
  verdict.remaining = window::Left(limit.tokens(), held);
  verdict.reset_after_ns = last_ns - now_ns;
  const uint64_t wanted = held + ask.cost + ask.reserved;
  verdict.allowed = wanted <= limit.tokens();
  if (!verdict.allowed) {
    verdict.retry_after_ns = UntilFree(state, now_ns, wanted - limit.tokens());
  }
  return verdict;
}

void DropExpired(Holds& holds, int64_t now_ns) {
  holds.erase(std::remove_if(
                  holds.begin(), holds.end(),
                  [&](const Hold& hold) { return hold.expires_ns <= now_ns; }),
              holds.end());
}

class ConcurrencyAlgorithm final : public Algorithm {
 public:
  [[nodiscard]] absl::string_view name() const override {
    return "concurrency";
  }

  [[nodiscard]] absl::Status Validate(const Limit& limit) const override {
    if (limit.tokens() > kMaxSlots) {
      return absl::InvalidArgumentError(
          absl::StrCat("got ", limit.tokens(), " slots, want at most ",
                       kMaxSlots, " with concurrency"));
    }
    return window::Validate(name(), limit);
  }

  [[nodiscard]] uint64_t Capacity(const Limit& limit) const override {
    return limit.tokens();
  }

  Verdict Take(BucketState& bucket, const Limit& limit, const Ask& ask,
               int64_t now_ns) const override {
    auto state = bucket.As<State>();
    now_ns = std::max(now_ns, state.seen_ns);
    Verdict verdict = Judge(state, limit, ask, now_ns);
    if (!verdict.allowed) return verdict;
    if (state.holds == nullptr) state.holds = new Holds;
    DropExpired(*state.holds, now_ns);
    state.holds->push_back({ask.ticket, ask.cost, now_ns + limit.period_ns()});
    state.seen_ns = now_ns;
    bucket.Set(state);
    verdict.remaining -= ask.cost;
    verdict.reset_after_ns =
        std::max(verdict.reset_after_ns, limit.period_ns());
    return verdict;
  }

  [[nodiscard]] Verdict Peek(const BucketState& bucket, const Limit& limit,
                             const Ask& ask, int64_t now_ns) const override {
    const auto state = bucket.As<State>();
    return Judge(state, limit, ask, std::max(now_ns, state.seen_ns));
  }

  void Refund(BucketState& bucket, const Limit& /*limit*/, const Ask& ask,
              int64_t /*taken_at_ns*/, int64_t now_ns) const override {
    auto state = bucket.As<State>();
    if (state.holds == nullptr) return;
    now_ns = std::max(now_ns, state.seen_ns);
    Holds& holds = *state.holds;
    const auto it = std::find_if(
        holds.begin(), holds.end(),
        [&](const Hold& hold) { return hold.ticket == ask.ticket; });
    if (it == holds.end() || it->expires_ns <= now_ns) return;
    holds.erase(it);
    state.seen_ns = now_ns;
    bucket.Set(state);
  }

  [[nodiscard]] bool IsForgettable(const BucketState& bucket, const Limit&,
                                   int64_t now_ns) const override {
    const auto state = bucket.As<State>();
    return state.holds == nullptr && state.seen_ns <= now_ns;
  }

  // Slots that are held stay held, whatever the limit.
  void Rescale(BucketState&, const Limit&, const Limit&,
               int64_t) const override {}

  // Three numbers for each hold: its ticket, its slots, and when it expires.
  void Save(const BucketState& bucket, const Limit& /*limit*/, int64_t at_ns,
            std::vector<int64_t>& numbers) const override {
    ForEachHeld(bucket.As<State>(), at_ns, [&](const Hold& hold) {
      numbers.push_back(static_cast<int64_t>(hold.ticket));
      numbers.push_back(static_cast<int64_t>(hold.slots));
      numbers.push_back(hold.expires_ns - at_ns);
    });
  }

  // More may be held than the limit says, since it may have been higher when
  // they were taken; but never longer than it says.
  [[nodiscard]] bool Restore(const SavedState& saved, const Limit& limit,
                             int64_t now_ns,
                             BucketState& bucket) const override {
    if (saved.numbers.size() % 3 != 0) return false;
    auto holds = std::make_unique<Holds>();
    uint64_t room = kMaxSlots;
    for (size_t i = 0; i < saved.numbers.size(); i += 3) {
      const auto slots = static_cast<uint64_t>(saved.numbers[i + 1]);
      if (slots == 0 || slots > room) return false;
      room -= slots;
      const int64_t expires_ns =
          std::min(saved.AfterAsOf(now_ns, saved.numbers[i + 2]),
                   now_ns + limit.period_ns());
      if (expires_ns <= now_ns) continue;
      holds->push_back(
          {static_cast<uint64_t>(saved.numbers[i]), slots, expires_ns});
    }
    if (holds->empty()) return true;
    bucket.Set(State{holds.release(), now_ns});
    return true;
  }

  [[nodiscard]] bool TakesByTicket() const override { return true; }

  [[nodiscard]] bool OwnsMemory() const override { return true; }

  void Trim(BucketState& bucket, const Limit& /*limit*/,
            int64_t now_ns) const override {
    auto state = bucket.As<State>();
    if (state.holds == nullptr) return;
    now_ns = std::max(now_ns, state.seen_ns);
    const size_t before = state.holds->size();
    DropExpired(*state.holds, now_ns);
    // A clock that goes back must not find less held than it left.
    if (state.holds->size() < before) state.seen_ns = now_ns;
    if (state.holds->empty()) {
      delete state.holds;
      state.holds = nullptr;
    }
    bucket.Set(state);
  }

 private:
  static constexpr uint32_t kMaxSlots = 10'000;
};

}  // namespace

const Algorithm& Concurrency() {
  static const ConcurrencyAlgorithm algorithm;
  return algorithm;
}

}  // namespace tollgate
