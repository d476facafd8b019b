// Random operations against a naive model, with no difference allowed; and in
// every window, no more than burst + rate * window.
#include <algorithm>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "absl/numeric/int128.h"
#include "gtest/gtest.h"
#include "server/base/clock.h"
#include "server/limiter/limiter.h"
#include "tests/limiter/ask.h"
#include "tests/limiter/limits.h"
#include "tests/limiter/naive_model.h"
#include "tests/support/seeds.h"

namespace tollgate {
namespace {

// Of each run; there are four of each kind.
constexpr int kOperations = 30'000;

// What a run does, besides takes and peeks.
struct Mix {
  size_t stripes = 1;
  bool time_goes_back = false;
  bool whole_sweeps = false;
  bool small_sweeps = false;
  bool reloads = false;
};

class Random {
 public:
  explicit Random(uint32_t seed) : engine_(seed) {}

  // 0 to bound - 1.
  uint64_t Below(uint64_t bound) { return engine_() % bound; }
  bool OneIn(uint64_t n) { return Below(n) == 0; }
  template <typename T, size_t n>
  const T& Of(const T (&items)[n]) {
    return items[Below(n)];
  }

 private:
  std::mt19937_64 engine_;
};

Limit RandomLimit(Random& random) {
  static constexpr uint64_t kTokens[] = {1,  1,  2,    3,     7,         10,
                                         11, 13, 1000, 65537, 1000000007};
  static constexpr int64_t kPeriods[] = {1,
                                         7,
                                         1'000,
                                         999'983,
                                         600 * kMilli,
                                         kSecond,
                                         kSecond,
                                         3 * kSecond,
                                         60 * kSecond,
                                         3600 * kSecond,
                                         86'400 * kSecond};
  return MakeLimit(random.Of(kTokens), absl::Nanoseconds(random.Of(kPeriods)),
                   1 + random.Below(20));
}

std::vector<Rule> RandomRules(Random& random) {
  const std::vector<std::string> keys[] = {{}, {"u"}, {"v"}, {"u", "v"}};
  std::vector<Rule> rules;
  for (int i = 0; i < 6; ++i) {
    Rule rule = MakeRule("r" + std::to_string(i), random.Of(keys),
                         {RandomLimit(random)});
    if (random.OneIn(4)) rule.limits.push_back(RandomLimit(random));
    if (random.OneIn(4)) rule.cost = 1 + random.Below(3);
    if (random.OneIn(5)) rule.mode = Mode::kShadow;
    rules.push_back(std::move(rule));
  }
  return rules;
}

// A limiter and the model, told the same.
class Pair {
 public:
  Pair(uint32_t seed, const Mix& mix) : mix_(mix), random_(seed) {
    LimiterOptions options;
    options.stripes = mix.stripes;
    limiter_ = std::make_unique<Limiter>(clock_, options);
    all_rules_ = RandomRules(random_);
    Load(all_rules_);
  }

  void Step() {
    if (random_.OneIn(3)) MoveTime();
    if (mix_.whole_sweeps && random_.OneIn(20)) SweepAll();
    if (mix_.small_sweeps && random_.OneIn(3))
      limiter_->Sweep(random_.Below(9));
    if (mix_.reloads && random_.OneIn(200)) Reload();
    Decide();
  }

  // In every window of admissions to one bucket the cost is at most
  // burst + rate * window. Returns how many admissions there were.
  [[nodiscard]] size_t CheckWindows() const {
    size_t checked = 0;
    for (const Rule& rule : model_.rules()) {
      for (const auto& [key, admissions] : model_.admissions()) {
        if (std::get<0>(key) != rule.name) continue;
        CheckWindowsOf(rule.limits.at(std::get<2>(key)), admissions);
        checked += admissions.size();
      }
    }
    return checked;
  }

 private:
  // For each end of a window the fullest window is known from the least of
  // "cost before the start, less what the time until then refills".
  static void CheckWindowsOf(const Limit& limit,
                             const std::vector<NaiveModel::Admission>& all) {
    const absl::int128 token = limit.period_ns();
    absl::int128 before = 0;  // cost of the admissions before this one
    absl::int128 least = 0;
    for (size_t i = 0; i < all.size(); ++i) {
      ASSERT_TRUE(i == 0 || all[i].at_ns >= all[i - 1].at_ns);
      const absl::int128 refilled =
          absl::int128(all[i].at_ns - all[0].at_ns) * limit.tokens();
      least = std::min(least, before - refilled);
      before += token * all[i].cost;
      ASSERT_LE(before - refilled - least, token * limit.burst())
          << limit.ToString() << ", a window that ends at admission " << i;
    }
  }

  void Load(const std::vector<Rule>& rules) {
    model_.SetRules(rules, clock_.NowNs());
    SetRules(*limiter_, rules);
  }

  // Changes some limits, and leaves out a rule at times.
  void Reload() {
    for (Rule& rule : all_rules_) {
      if (!random_.OneIn(3)) continue;
      for (Limit& limit : rule.limits) limit = RandomLimit(random_);
      if (random_.OneIn(4)) rule.limits.assign(1, rule.limits[0]);
      if (random_.OneIn(4)) rule.limits.push_back(RandomLimit(random_));
      if (rule.limits.size() > 3) rule.limits.pop_back();
    }
    std::vector<Rule> rules = all_rules_;
    if (random_.OneIn(2)) {
      rules.erase(rules.begin() +
                  static_cast<std::ptrdiff_t>(random_.Below(rules.size())));
    }
    Load(rules);
  }

  void MoveTime() {
    if (last_wait_ns_ > 0 && random_.OneIn(2)) {
      // To the refill that was promised last, or just before or after it.
      clock_.Advance(last_wait_ns_ - 1 +
                     static_cast<int64_t>(random_.Below(3)));
      last_wait_ns_ = 0;
      return;
    }
    static constexpr int64_t kScales[] = {
        2,       10,           1'000,        kMilli, 100 * kMilli,
        kSecond, 10 * kSecond, 600 * kSecond};
    const auto step = static_cast<int64_t>(
        random_.Below(static_cast<uint64_t>(random_.Of(kScales))));
    const bool back = mix_.time_goes_back && random_.OneIn(4);
    clock_.Advance(back ? -step : step);
  }

  void SweepAll() {
    const size_t forgotten = limiter_->Sweep(1'000'000);
    ASSERT_EQ(forgotten, model_.Sweep(clock_.NowNs()));
    ASSERT_EQ(limiter_->bucket_count(), model_.bucket_count());
  }

  void Decide() {
    NaiveModel::Entries entries = {{"x", "0"}};
    if (!random_.OneIn(4)) entries["u"] = std::to_string(random_.Below(4));
    if (!random_.OneIn(4)) entries["v"] = std::to_string(random_.Below(3));
    std::vector<Entry> views;
    for (const auto& [key, value] : entries) views.push_back({key, value});
    const uint64_t cost =
        random_.OneIn(2) ? random_.Below(3) : random_.Below(12);

    const Decision got = AskFor(*limiter_, views, cost);
    const NaiveDecision want = model_.Decide(entries, cost, clock_.NowNs());

    ASSERT_EQ(OutcomeName(got.outcome), OutcomeName(want.outcome));
    ASSERT_EQ(got.retry_after_ns, want.retry_after_ns);
    ASSERT_EQ(got.statuses.size(), want.statuses.size());
    for (size_t i = 0; i < want.statuses.size(); ++i) {
      Compare(got.statuses[i], want.statuses[i]);
      if (want.statuses[i].retry_after_ns > 0) {
        last_wait_ns_ = want.statuses[i].retry_after_ns;
      }
    }
  }

  static void Compare(const RuleStatus& got, const NaiveStatus& want) {
    SCOPED_TRACE(got.rule->name + " " + got.limit.ToString());
    ASSERT_EQ(OutcomeName(got.outcome), OutcomeName(want.outcome));
    ASSERT_EQ(got.remaining, want.remaining);
    ASSERT_EQ(got.retry_after_ns, want.retry_after_ns);
    ASSERT_EQ(got.reset_after_ns, want.reset_after_ns);
  }

  const Mix mix_;
  Random random_;
  FakeClock clock_{kStart};
  std::unique_ptr<Limiter> limiter_;
  NaiveModel model_;
  std::vector<Rule> all_rules_;
  int64_t last_wait_ns_ = 0;
};

class LimiterProperty : public testing::TestWithParam<uint32_t> {
 protected:
  static void RunMix(const Mix& mix, bool windows) {
    const uint32_t seed = SeedOf(GetParam());
    SCOPED_TRACE(testing::Message() << "TOLLGATE_SEED=" << seed);
    Pair pair(seed, mix);
    for (int i = 0; i < kOperations; ++i) {
      pair.Step();
      ASSERT_FALSE(HasFailure()) << "operation " << i;
    }
    if (!windows) return;
    const size_t checked = pair.CheckWindows();
    // A new seed may draw rules that let next to nothing through, so the seeds
    // that never change show that there was something to check.
    if (GetParam() != kNewSeed) {
      EXPECT_GT(checked, 1000u);
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Seeds, LimiterProperty,
                         testing::Values(kNewSeed, 1, 2, 20231114));

TEST_P(LimiterProperty, DecidesAsTheModelWhateverTheClockAndTheSweepDo) {
  RunMix({.time_goes_back = true, .whole_sweeps = true}, /*windows=*/true);
}

TEST_P(LimiterProperty, SweepsInSmallStepsChangeNoDecision) {
  RunMix({.stripes = 64, .small_sweeps = true}, /*windows=*/true);
}

TEST_P(LimiterProperty, ReloadsCarryOverExactlyWhatIsSpent) {
  RunMix({.time_goes_back = true, .whole_sweeps = true, .reloads = true},
         /*windows=*/false);
}

}  // namespace
}  // namespace tollgate
