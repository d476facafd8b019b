#include "server/limiter/sliding_log.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "server/limiter/window.h"

namespace tollgate {
namespace {

constexpr uint32_t kMaxTokens = 10'000;

struct Admission {
  int64_t at_ns;
  uint64_t cost;
};

// Oldest first; no two of the same instant.
using Log = std::vector<Admission>;

struct State {
  Log* log;         // owned; null where nothing was admitted
  int64_t seen_ns;  // the latest instant of a take or refund
  int64_t past_ns;  // what was taken up to here no longer counts
};

// The latest instant that no longer counts at `now_ns`: a period ago, or what
// was as long ago under an earlier limit.
int64_t PastAt(const State& state, const Limit& limit, int64_t now_ns) {
  return std::max(state.past_ns, now_ns - limit.period_ns());
}

// The admissions that count at `now_ns`.
Log::const_iterator FirstThatCounts(const State& state, const Limit& limit,
                                    int64_t now_ns) {
  const int64_t past_ns = PastAt(state, limit, now_ns);
  return std::find_if(
      state.log->cbegin(), state.log->cend(),
      [past_ns](const Admission& a) { return a.at_ns > past_ns; });
}

Verdict Judge(const State& state, const Limit& limit, const Ask& ask,
              int64_t now_ns) {
  Verdict verdict;
  if (state.log == nullptr) {
    verdict.at_ns = now_ns;
    verdict.remaining = limit.tokens();
    verdict.allowed = ask.cost + ask.reserved <= limit.tokens();
    return verdict;
  }
  const Log& log = *state.log;
  const auto first = FirstThatCounts(state, limit, now_ns);
  uint64_t spent = 0;
  for (auto it = first; it != log.end(); ++it) spent += it->cost;
  verdict.at_ns = now_ns;
  verdict.remaining = window::Left(limit.tokens(), spent);
  if (spent > 0) {
    verdict.reset_after_ns = log.back().at_ns + limit.period_ns() - now_ns;
  }
  const uint64_t wanted = ask.cost + ask.reserved;
  verdict.allowed = spent + wanted <= limit.tokens();
  for (auto it = first; spent + wanted > limit.tokens() && it != log.end();
       ++it) {
    spent -= it->cost;
    verdict.retry_after_ns = it->at_ns + limit.period_ns() - now_ns;
  }
  return verdict;
}

class SlidingLogAlgorithm final : public Algorithm {
 public:
  [[nodiscard]] absl::string_view name() const override {
    return "sliding_log";
  }

  [[nodiscard]] absl::Status Validate(const Limit& limit) const override {
    if (limit.tokens() > kMaxTokens) {
      return absl::InvalidArgumentError(absl::StrCat(
          "got ", limit.tokens(), " tokens, want at most ", kMaxTokens,
          " with sliding_log, which remembers each admission"));
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
    if (state.log == nullptr) state.log = new Log;
    Log& log = *state.log;
    log.erase(log.cbegin(), FirstThatCounts(state, limit, now_ns));
    if (!log.empty() && log.back().at_ns == now_ns) {
      log.back().cost += ask.cost;
    } else {
      log.push_back({now_ns, ask.cost});
    }
    state.seen_ns = now_ns;
    bucket.Set(state);
    verdict.remaining -= ask.cost;
    verdict.reset_after_ns = limit.period_ns();
    return verdict;
  }

  [[nodiscard]] Verdict Peek(const BucketState& bucket, const Limit& limit,
                             const Ask& ask, int64_t now_ns) const override {
    const auto state = bucket.As<State>();
    return Judge(state, limit, ask, std::max(now_ns, state.seen_ns));
  }

  void Refund(BucketState& bucket, const Limit& limit, const Ask& ask,
              int64_t taken_at_ns, int64_t now_ns) const override {
    auto state = bucket.As<State>();
    if (state.log == nullptr) return;
    now_ns = std::max(now_ns, state.seen_ns);
    if (taken_at_ns <= PastAt(state, limit, now_ns)) return;
    Log& log = *state.log;
    const auto it = std::find_if(log.begin(), log.end(), [&](const auto& a) {
      return a.at_ns == taken_at_ns;
    });
    if (it == log.end()) return;
    it->cost = window::Left(it->cost, ask.cost);
    if (it->cost == 0) log.erase(it);
    state.seen_ns = now_ns;
    bucket.Set(state);
  }

  [[nodiscard]] bool IsForgettable(const BucketState& bucket, const Limit&,
                                   int64_t now_ns) const override {
    const auto state = bucket.As<State>();
    return state.log == nullptr && state.seen_ns <= now_ns;
  }

  // The log says what is spent, whatever the limit; but what was past under the
  // old one does not come back under a longer period.
  void Rescale(BucketState& bucket, const Limit& from, const Limit& /*to*/,
               int64_t now_ns) const override {
    auto state = bucket.As<State>();
    // What is taken from here on must not be past.
    state.seen_ns = std::max(now_ns, state.seen_ns);
    state.past_ns = PastAt(state, from, state.seen_ns);
    bucket.Set(state);
  }

  // Two numbers for each admission that counts, oldest first: when it was, and
  // its cost.
  void Save(const BucketState& bucket, const Limit& limit, int64_t at_ns,
            std::vector<int64_t>& numbers) const override {
    const auto state = bucket.As<State>();
    if (state.log == nullptr) return;
    for (auto it = FirstThatCounts(state, limit, at_ns);
         it != state.log->cend(); ++it) {
      numbers.push_back(it->at_ns - at_ns);
      numbers.push_back(static_cast<int64_t>(it->cost));
    }
  }

  // Of more than the limit lets in, the newest are kept: the bucket has room
  // again at the same instant.
  [[nodiscard]] bool Restore(const SavedState& saved, const Limit& limit,
                             int64_t now_ns,
                             BucketState& bucket) const override {
    if (saved.numbers.size() % 2 != 0 ||
        saved.numbers.size() / 2 > kMaxTokens) {
      return false;
    }
    auto log = std::make_unique<Log>();
    uint64_t room = limit.tokens();
    int64_t next_ns = now_ns;
    for (size_t i = saved.numbers.size(); i > 0 && room > 0; i -= 2) {
      const int64_t at_ns =
          std::min(saved.AfterAsOf(now_ns, saved.numbers[i - 2]), now_ns);
      const auto cost =
          std::min(static_cast<uint64_t>(saved.numbers[i - 1]), room);
      if (at_ns > next_ns || cost == 0) return false;
      if (at_ns <= now_ns - limit.period_ns()) break;
      if (!log->empty() && at_ns == next_ns) {
        log->back().cost += cost;
      } else {
        log->push_back({at_ns, cost});
      }
      next_ns = at_ns;
      room -= cost;
    }
    if (log->empty()) return true;
    std::reverse(log->begin(), log->end());
    bucket.Set(State{log.release(), now_ns, now_ns - limit.period_ns()});
    return true;
  }

  [[nodiscard]] bool OwnsMemory() const override { return true; }

  void Trim(BucketState& bucket, const Limit& limit,
            int64_t now_ns) const override {
    auto state = bucket.As<State>();
    if (state.log == nullptr) return;
    now_ns = std::max(now_ns, state.seen_ns);
    Log& log = *state.log;
    const auto first = FirstThatCounts(state, limit, now_ns);
    // A clock that goes back must not find less spent than it left.
    if (first != log.cbegin()) state.seen_ns = now_ns;
    log.erase(log.cbegin(), first);
    if (log.empty()) {
      delete state.log;
      state.log = nullptr;
    }
    bucket.Set(state);
  }
};

}  // namespace

const Algorithm& SlidingLog() {
  static const SlidingLogAlgorithm algorithm;
  return algorithm;
}

}  // namespace tollgate
