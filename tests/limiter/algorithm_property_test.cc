// Each algorithm, one bucket, random operations: against a model that is
// written down from the definition and searches for its answers.
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/limiter/limits.h"
#include "tests/limiter/naive_model.h"
#include "tests/limiter/one_bucket.h"
#include "tests/support/seeds.h"

namespace tollgate {
namespace {

// What one algorithm has spent, by its definition.
class Naive {
 public:
  explicit Naive(const Limit& limit) : limit_(limit) {}
  virtual ~Naive() = default;
  Naive(const Naive&) = delete;
  Naive& operator=(const Naive&) = delete;

  // At `at_ns`, or later if nobody takes; whole tokens, rounded up.
  [[nodiscard]] virtual uint64_t Spent(int64_t at_ns) const = 0;
  virtual void Add(const Ask& ask, int64_t at_ns) = 0;
  virtual void Remove(const Ask& ask, int64_t taken_at_ns, int64_t at_ns) = 0;
  virtual void Change(const Limit& to, int64_t at_ns) = 0;
  virtual void Trim(int64_t /*at_ns*/) {}

  [[nodiscard]] virtual Verdict Answer(const Ask& ask, int64_t now_ns) const {
    Verdict verdict;
    verdict.at_ns = At(now_ns);
    const uint64_t spent = Spent(verdict.at_ns);
    verdict.remaining =
        limit_.tokens() - std::min<uint64_t>(spent, limit_.tokens());
    const uint64_t most = limit_.tokens() - ask.cost - ask.reserved;
    verdict.allowed = spent <= most;
    verdict.retry_after_ns = FirstWithAtMost(most, verdict.at_ns);
    verdict.reset_after_ns = FirstWithAtMost(0, verdict.at_ns);
    return verdict;
  }
  virtual void Rescale(const Limit& to, int64_t now_ns) {
    Change(to, At(now_ns));
    limit_ = to;
  }
  [[nodiscard]] int64_t At(int64_t now_ns) const {
    return std::max(now_ns, own_ns_);
  }
  [[nodiscard]] virtual bool IsForgettable(int64_t now_ns) const {
    return now_ns >= own_ns_ && Spent(now_ns) == 0;
  }

 protected:
  [[nodiscard]] int64_t Period() const { return limit_.period_ns(); }

  Limit limit_;
  int64_t own_ns_ = 0;  // time never goes back before this

 private:
  // How long until at most `most` is spent; what is spent only sinks.
  [[nodiscard]] int64_t FirstWithAtMost(uint64_t most, int64_t at_ns) const {
    int64_t low = -1;  // too much
    int64_t high = int64_t{1} << 40;
    while (high - low > 1) {
      const int64_t middle = low + (high - low) / 2;
      (Spent(at_ns + middle) <= most ? high : low) = middle;
    }
    return high;
  }
};

// Counts by the window's number.
class NaiveFixed : public Naive {
 public:
  using Naive::Naive;
  uint64_t Spent(int64_t at_ns) const override { return In(at_ns / Period()); }
  void Add(const Ask& ask, int64_t at_ns) override {
    counts_[at_ns / Period()] += ask.cost;
    own_ns_ = at_ns / Period() * Period();
  }
  void Remove(const Ask& ask, int64_t taken_at_ns, int64_t at_ns) override {
    if (taken_at_ns < at_ns / Period() * Period()) return;
    Reduce(at_ns / Period(), ask.cost);
    own_ns_ = at_ns / Period() * Period();
  }
  void Change(const Limit& to, int64_t at_ns) override {
    const uint64_t spent = std::min<uint64_t>(Spent(at_ns), to.tokens());
    counts_ = {{at_ns / to.period_ns(), spent}};
    own_ns_ = at_ns / to.period_ns() * to.period_ns();
  }

 protected:
  [[nodiscard]] uint64_t In(int64_t window) const {
    const auto it = counts_.find(window);
    return it == counts_.end() ? 0 : it->second;
  }
  void Reduce(int64_t window, uint64_t cost) {
    counts_[window] -= std::min(counts_[window], cost);
  }

  std::map<int64_t, uint64_t> counts_;
};

class NaiveSliding final : public NaiveFixed {
 public:
  using NaiveFixed::NaiveFixed;
  uint64_t Spent(int64_t at_ns) const override {
    const int64_t window = at_ns / Period();
    const auto period = static_cast<uint64_t>(Period());
    const auto overlap = static_cast<uint64_t>((window + 1) * Period() - at_ns);
    return In(window) + (In(window - 1) * overlap + period - 1) / period;
  }
  void Remove(const Ask& ask, int64_t taken_at_ns, int64_t at_ns) override {
    if (taken_at_ns / Period() < at_ns / Period() - 1) return;
    Reduce(std::min(taken_at_ns, at_ns) / Period(), ask.cost);
    own_ns_ = at_ns / Period() * Period();
  }
  void Change(const Limit& to, int64_t at_ns) override {
    if (to.period_ns() != Period() || Spent(at_ns) > to.tokens()) {
      NaiveFixed::Change(to, at_ns);
    } else {
      own_ns_ = at_ns / Period() * Period();
    }
  }
};

// Every admission there ever was; concurrency forgets those released.
class NaiveLog : public Naive {
 public:
  using Naive::Naive;
  uint64_t Spent(int64_t at_ns) const override {
    uint64_t spent = 0;
    for (const Item& item : items_) {
      if (EndOf(item) > at_ns) spent += item.ask.cost;
    }
    return spent;
  }
  void Trim(int64_t at_ns) override {
    if (Drop(at_ns) > 0) own_ns_ = at_ns;
  }
  void Add(const Ask& ask, int64_t at_ns) override {
    Drop(at_ns);
    items_.push_back({ask, at_ns, at_ns + Period()});
    own_ns_ = at_ns;
  }
  void Remove(const Ask& ask, int64_t taken_at_ns, int64_t at_ns) override {
    uint64_t left = ask.cost;
    for (Item& item : items_) {
      if (item.at_ns != taken_at_ns || EndOf(item) <= at_ns) continue;
      const uint64_t part = std::min(left, item.ask.cost);
      item.ask.cost -= part;
      left -= part;
      own_ns_ = at_ns;
    }
    std::erase_if(items_, [](const Item& i) { return i.ask.cost == 0; });
  }
  void Change(const Limit&, int64_t at_ns) override {
    past_ns_ = std::max(past_ns_, at_ns - Period());
    own_ns_ = at_ns;
  }

 protected:
  struct Item {
    Ask ask;
    int64_t at_ns;
    int64_t end_ns;
  };
  [[nodiscard]] virtual int64_t EndOf(const Item& item) const {
    return item.at_ns <= past_ns_ ? item.at_ns : item.at_ns + Period();
  }
  size_t Drop(int64_t at_ns) {
    return std::erase_if(items_,
                         [&](const Item& i) { return EndOf(i) <= at_ns; });
  }

  std::vector<Item> items_;
  int64_t past_ns_ = 0;
};

class NaiveHolds final : public NaiveLog {
 public:
  using NaiveLog::NaiveLog;
  void Remove(const Ask& ask, int64_t, int64_t at_ns) override {
    if (std::erase_if(items_, [&](const Item& item) {
          return item.ask.ticket == ask.ticket && EndOf(item) > at_ns;
        }) > 0) {
      own_ns_ = at_ns;
    }
  }
  void Change(const Limit&, int64_t) override {}

 protected:
  [[nodiscard]] int64_t EndOf(const Item& item) const override {
    return item.end_ns;
  }
};

// The token bucket in rationals, with what exceeds it put off.
class NaiveLeaky final : public Naive {
 public:
  explicit NaiveLeaky(const Limit& limit) : Naive(limit), bucket_(limit) {}
  uint64_t Spent(int64_t at_ns) const override {
    return limit_.burst() - bucket_.Remaining(at_ns);
  }
  void Add(const Ask& ask, int64_t at_ns) override {
    bucket_.Take(ask.cost, at_ns);
  }
  void Remove(const Ask& ask, int64_t, int64_t at_ns) override {
    bucket_.Refund(ask.cost, at_ns);
  }
  void Change(const Limit& to, int64_t at_ns) override {
    bucket_.Rescale(to, at_ns);
  }
  Verdict Answer(const Ask& ask, int64_t now_ns) const override {
    Verdict verdict;
    const uint64_t need = ask.cost + ask.reserved;
    const int64_t late_ns = bucket_.RetryAfter(need, now_ns);
    verdict.allowed = late_ns <= limit_.hold_ns();
    (verdict.allowed ? verdict.delay_ns : verdict.retry_after_ns) =
        verdict.allowed ? late_ns : late_ns - limit_.hold_ns();
    verdict.remaining = bucket_.Remaining(now_ns);
    verdict.reset_after_ns = bucket_.ResetAfter(now_ns);
    verdict.at_ns = std::max(now_ns, bucket_.own_ns());
    return verdict;
  }
  bool IsForgettable(int64_t now_ns) const override {
    return bucket_.IsFullAt(now_ns);
  }

 private:
  NaiveBucket bucket_;
};

// A run of one algorithm beside its model.
class Trial {
 public:
  Trial(const std::string& name, uint32_t seed)
      : name_(name), random_(seed), limit_(RandomLimit()) {
    Renew();
  }

  void Step() {
    if (Below(3) == 0) MoveTime();
    switch (Below(12)) {
      case 0:
        Refund();
        break;
      case 1:
        Forget();
        break;
      case 2:
        if (Below(8) == 0) Reload();
        break;
      default:
        TakeOrPeek(Below(4) == 0);
    }
  }
  // In every window, what goes ahead is at most burst + rate * window; of a
  // sliding_log at most the tokens in any period. Call for runs of one limit.
  void CheckWindows() {
    std::sort(released_.begin(), released_.end());
    const absl::int128 token = limit_.period_ns();
    absl::int128 before = 0;
    absl::int128 least = 0;
    for (const auto& [at_ns, cost] : released_) {
      const absl::int128 refilled =
          absl::int128(at_ns - released_[0].first) * limit_.tokens();
      // A delay is rounded up to a nanosecond, the window with it.
      const absl::int128 rounding =
          name_ == "leaky_bucket" ? limit_.tokens() : 0;
      least = std::min(least, before - refilled);
      before += token * cost;
      ASSERT_LE(before - refilled - least, token * limit_.burst() + rounding);
    }
    EXPECT_GT(released_.size(), 20u);
  }
  void KeepTheLimit() { reloads_ = false; }
  [[nodiscard]] uint64_t allowed() const { return allowed_; }

 private:
  uint64_t Below(uint64_t bound) { return random_() % bound; }

  Limit RandomLimit() {
    static constexpr uint64_t kTokens[] = {1, 2, 3, 7, 10, 13};
    static constexpr int64_t kPeriods[] = {7, 1'000, 999'983, kSecond,
                                           10 * kSecond};
    const uint64_t tokens = kTokens[Below(6)];
    const int64_t period_ns = kPeriods[Below(5)];
    const absl::Duration period = absl::Nanoseconds(period_ns);
    if (name_ != "leaky_bucket") return MakeLimit(tokens, period);
    return Holding(
        MakeLimit(tokens, period, 1 + Below(12)),
        absl::Nanoseconds(1 + Below(2 * static_cast<uint64_t>(period_ns))));
  }

  void Renew() {
    bucket_ = std::make_unique<OneBucket>(*FindAlgorithm(name_), limit_);
    taken_.clear();
    if (name_ == "fixed_window") {
      model_ = std::make_unique<NaiveFixed>(limit_);
    } else if (name_ == "sliding_window") {
      model_ = std::make_unique<NaiveSliding>(limit_);
    } else if (name_ == "sliding_log") {
      model_ = std::make_unique<NaiveLog>(limit_);
    } else if (name_ == "concurrency") {
      model_ = std::make_unique<NaiveHolds>(limit_);
    } else {
      model_ = std::make_unique<NaiveLeaky>(limit_);
    }
  }

  void MoveTime() {
    if (wait_ns_ > 0 && Below(2) == 0) {
      now_ns_ += wait_ns_ - 1 + static_cast<int64_t>(Below(3));
      wait_ns_ = 0;
      return;
    }
    const auto period = static_cast<uint64_t>(limit_.period_ns());
    const auto step = static_cast<int64_t>(
        Below(Below(4) == 0 ? 3 * period : period / 4 + 2));
    now_ns_ += Below(5) == 0 ? -step : step;
  }

  void TakeOrPeek(bool peek) {
    const uint64_t capacity = bucket_->algorithm().Capacity(bucket_->limit());
    Ask ask;
    ask.cost = 1 + Below(Below(2) == 0 ? std::min<uint64_t>(2, capacity)
                                       : std::min<uint64_t>(20, capacity));
    ask.reserved = Below(5) == 0 && ask.cost < limit_.burst()
                       ? Below(limit_.burst() - ask.cost + 1)
                       : 0;
    if (ask.cost + ask.reserved > capacity) ask.reserved = 0;
    ask.ticket = ++ticket_;
    const Verdict want = model_->Answer(ask, now_ns_);
    const Verdict peeked = bucket_->Peek(ask, now_ns_);
    Compare(peeked, want);
    if (peek) return;
    const Verdict got = bucket_->Take(ask, now_ns_);
    ASSERT_EQ(got.allowed, want.allowed);
    ASSERT_EQ(got.retry_after_ns, want.retry_after_ns);
    ASSERT_EQ(got.delay_ns, want.delay_ns);
    ASSERT_EQ(got.at_ns, want.at_ns);
    wait_ns_ = want.retry_after_ns > 0 ? want.retry_after_ns : wait_ns_;
    if (!got.allowed) return;
    ++allowed_;
    model_->Add(ask, want.at_ns);
    taken_.emplace_back(ask, got.at_ns);
    released_.emplace_back(got.at_ns + got.delay_ns, ask.cost);
    const Verdict after = bucket_->Peek(Ask{}, now_ns_);
    ASSERT_EQ(got.remaining, after.remaining);
    ASSERT_EQ(got.reset_after_ns, after.reset_after_ns);
  }

  static void Compare(const Verdict& got, const Verdict& want) {
    ASSERT_EQ(got.allowed, want.allowed);
    ASSERT_EQ(got.retry_after_ns, want.retry_after_ns);
    ASSERT_EQ(got.reset_after_ns, want.reset_after_ns);
    ASSERT_EQ(got.delay_ns, want.delay_ns);
    ASSERT_EQ(got.remaining, want.remaining);
    ASSERT_EQ(got.at_ns, want.at_ns);
  }

  void Refund() {
    if (taken_.empty()) return;
    const auto [ask, at_ns] =
        taken_[taken_.size() - 1 - Below(std::min<size_t>(taken_.size(), 8))];
    if (!reloads_) return;  // what was released would have to be taken out
    bucket_->Refund(ask, at_ns, now_ns_);
    model_->Remove(ask, at_ns, model_->At(now_ns_));
  }

  void Forget() {
    bucket_->Trim(now_ns_);
    model_->Trim(model_->At(now_ns_));
    const bool forgettable = bucket_->IsForgettable(now_ns_);
    ASSERT_EQ(forgettable, model_->IsForgettable(now_ns_));
    if (forgettable && reloads_) Renew();
  }

  void Reload() {
    if (!reloads_) return;
    limit_ = RandomLimit();
    bucket_->Rescale(limit_, now_ns_);
    model_->Rescale(limit_, now_ns_);
  }

  const std::string name_;
  std::mt19937_64 random_;
  Limit limit_;
  std::unique_ptr<OneBucket> bucket_;
  std::unique_ptr<Naive> model_;
  std::vector<std::pair<Ask, int64_t>> taken_;
  std::vector<std::pair<int64_t, uint64_t>> released_;
  int64_t now_ns_ = kStart;
  int64_t wait_ns_ = 0;
  uint64_t ticket_ = 0;
  uint64_t allowed_ = 0;
  bool reloads_ = true;
};

constexpr int kRuns = 100;
constexpr int kSteps = 2'000;

class AlgorithmProperty : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Named, AlgorithmProperty,
                         testing::Values("token_bucket", "leaky_bucket",
                                         "fixed_window", "sliding_window",
                                         "sliding_log", "concurrency"),
                         [](const auto& test) {
                           return std::string(test.param);
                         });

TEST_P(AlgorithmProperty, AnswersAsItsModelWhateverIsAskedOfIt) {
  const uint32_t seed = SeedOf(kNewSeed);
  SCOPED_TRACE(testing::Message() << "TOLLGATE_SEED=" << seed);
  uint64_t allowed = 0;
  for (uint32_t i = 0; i < kRuns; ++i) {
    Trial run(GetParam(), seed + i);
    for (int step = 0; step < kSteps; ++step) {
      run.Step();
      ASSERT_FALSE(HasFailure()) << "run " << i << ", step " << step;
    }
    allowed += run.allowed();
  }
  EXPECT_GT(allowed, kRuns * kSteps / 20u);
}

class WindowBound : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Named, WindowBound,
                         testing::Values("token_bucket", "leaky_bucket",
                                         "sliding_log", "sliding_window"),
                         [](const auto& test) {
                           return std::string(test.param);
                         });

TEST_P(WindowBound, NoWindowHasMoreThanTheBurstAndWhatRefills) {
  const uint32_t seed = SeedOf(kNewSeed);
  SCOPED_TRACE(testing::Message() << "TOLLGATE_SEED=" << seed);
  for (uint32_t i = 0; i < kRuns; ++i) {
    Trial run(GetParam(), seed + i);
    run.KeepTheLimit();
    for (int step = 0; step < kSteps; ++step) run.Step();
    run.CheckWindows();
    ASSERT_FALSE(HasFailure()) << "run " << i;
  }
}

}  // namespace
}  // namespace tollgate
