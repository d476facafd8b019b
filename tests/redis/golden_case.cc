#include "tests/redis/golden_case.h"

#include <algorithm>
#include <array>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "server/limiter/penalty.h"
#include "server/redis/state_text.h"

namespace tollgate::redis {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kDay = 86'400 * kSecond;

const Algorithm& AlgorithmOf(absl::string_view name) {
  return name == Penalty().name() ? Penalty() : *FindAlgorithm(name);
}

LooseBucket Read(const GoldenCase& c, absl::string_view state) {
  auto bucket = ReadState(*c.algorithm, c.limit, state, c.now_ns);
  EXPECT_TRUE(bucket.ok()) << bucket.status() << " of " << LimitText(c.limit);
  return bucket.ok() ? *std::move(bucket)
                     : LooseBucket(*c.algorithm, c.limit, c.now_ns);
}

// Chooses and draws.
class Dice {
 public:
  explicit Dice(std::mt19937_64& random) : random_(random) {}
  uint64_t Below(uint64_t n) { return random_() % n; }
  // Of all magnitudes alike, 1 to `most`.
  uint64_t Log(uint64_t most) {
    const uint64_t bits = Below(64);
    return std::clamp<uint64_t>(random_() >> bits, 1, most);
  }
  template <typename Values>
  auto OneOf(const Values& values) {
    return values[Below(values.size())];
  }
  int64_t Period() {
    constexpr std::array<int64_t, 16> kPeriods = {1,
                                                  2,
                                                  3,
                                                  7,
                                                  999,
                                                  1'000,
                                                  1'000'003,
                                                  kSecond - 1,
                                                  kSecond,
                                                  kSecond + 1,
                                                  7 * kSecond + 13,
                                                  60 * kSecond,
                                                  3600 * kSecond,
                                                  kDay,
                                                  3650 * kDay - 1,
                                                  3650 * kDay};
    return Below(4) > 0
               ? OneOf(kPeriods)
               : static_cast<int64_t>(Log(static_cast<uint64_t>(3650 * kDay)));
  }
  uint64_t Tokens(uint64_t most) {
    constexpr std::array<uint64_t, 10> kTokens = {
        1, 2, 3, 7, 10, 1000, 65'536, 1'000'000'007, 0xFFFFFFFE, 0xFFFFFFFF};
    return std::min(Below(4) > 0 ? OneOf(kTokens) : Log(0xFFFFFFFF), most);
  }

 private:
  std::mt19937_64& random_;
};

bool KeepsList(const Algorithm& algorithm) {
  return algorithm.name() == "sliding_log" || algorithm.name() == "concurrency";
}

Limit LimitFor(const Algorithm& algorithm, Dice& dice) {
  const absl::string_view name = algorithm.name();
  const bool has_burst =
      name == "token_bucket" || name == "leaky_bucket" || name == "penalty";
  const bool has_hold = name == "leaky_bucket" || name == "penalty";
  while (true) {
    const uint64_t tokens = dice.Tokens(KeepsList(algorithm) ? 40 : 0xFFFFFFFF);
    const uint64_t burst =
        has_burst && dice.Below(2) == 0 ? dice.Tokens(0xFFFFFFFF) : tokens;
    auto limit = Limit::Create(tokens, absl::Nanoseconds(dice.Period()), burst);
    if (limit.ok() && has_hold) {
      limit = limit->WithHold(absl::Nanoseconds(dice.Period()));
    }
    if (limit.ok() &&
        (&algorithm == &Penalty() || algorithm.Validate(*limit).ok())) {
      return *limit;
    }
  }
}

// How far time goes from one step to the next; now and then back.
int64_t Step(const Limit& limit, Dice& dice) {
  const auto up_to = [&](int64_t most) {
    return static_cast<int64_t>(dice.Below(static_cast<uint64_t>(most) + 1));
  };
  switch (dice.Below(8)) {
    case 0:
      return 0;
    case 1:
      return -up_to(2 * limit.period_ns());
    case 2:
      return limit.period_ns();
    case 3:
      return up_to(3 * limit.period_ns());
    case 4:
      return up_to(limit.fill_time().ns);
    case 5:
      return limit.token_time().ns + up_to(2) - 1;
    default:
      return up_to(limit.period_ns());
  }
}

}  // namespace

GoldenOutcome OutcomeOf(const GoldenCase& c) {
  LooseBucket bucket = Read(c, c.state);
  const Algorithm& algorithm = *c.algorithm;
  const int64_t at_ns = bucket.at_ns();
  GoldenOutcome outcome;
  if (c.refunds) {
    algorithm.Refund(bucket.state(), c.limit, c.ask, c.taken_at_ns, at_ns);
  } else if (&algorithm == &Penalty()) {
    const bool blocks =
        !algorithm.Peek(bucket.state(), c.limit, c.ask, at_ns).allowed;
    outcome.mark = blocks ? 'b' : 'r';
    if (!blocks) algorithm.Take(bucket.state(), c.limit, c.ask, at_ns);
  } else {
    outcome.mark = algorithm.Take(bucket.state(), c.limit, c.ask, at_ns).allowed
                       ? 't'
                       : 'r';
  }
  // A state that is full again in 70 years is written, but not read.
  outcome.state = Canonical(c, WriteState(bucket));
  return outcome;
}

std::string Canonical(const GoldenCase& c, absl::string_view state) {
  return WriteState(Read(c, state));
}

std::string LineOf(const GoldenCase& c, const GoldenOutcome& o) {
  return absl::StrCat(c.algorithm->name(), ";", LimitText(c.limit), ";",
                      c.state, ";", c.now_ns, ";",
                      c.refunds ? "refund" : "take", ";", c.ask.cost, ";",
                      c.ask.reserved, ";", c.ask.ticket, ";", c.taken_at_ns,
                      ";", absl::string_view(&o.mark, 1), ";", o.state);
}

void ParseLine(const std::string& line, GoldenCase& c, GoldenOutcome& o) {
  const std::vector<std::string> fields = absl::StrSplit(line, ';');
  ASSERT_EQ(fields.size(), 11u) << line;
  c.algorithm = &AlgorithmOf(fields[0]);
  const auto limit = ParseLimitText(fields[1]);
  ASSERT_TRUE(limit.ok()) << line;
  c.limit = *limit;
  c.state = fields[2];
  c.refunds = fields[4] == "refund";
  ASSERT_TRUE(absl::SimpleAtoi(fields[3], &c.now_ns)) << line;
  ASSERT_TRUE(absl::SimpleAtoi(fields[5], &c.ask.cost)) << line;
  ASSERT_TRUE(absl::SimpleAtoi(fields[6], &c.ask.reserved)) << line;
  ASSERT_TRUE(absl::SimpleAtoi(fields[7], &c.ask.ticket)) << line;
  ASSERT_TRUE(absl::SimpleAtoi(fields[8], &c.taken_at_ns)) << line;
  ASSERT_EQ(fields[9].size(), 1u) << line;
  o = {fields[9][0], fields[10]};
}

std::vector<GoldenCase> RandomCases(std::mt19937_64& random, int steps) {
  constexpr std::array<absl::string_view, 7> kNames = {
      "token_bucket", "leaky_bucket", "fixed_window", "sliding_window",
      "sliding_log",  "concurrency",  "penalty"};
  constexpr std::array<int64_t, 5> kStarts = {
      1, 2, 1'764'547'200 * kSecond, 1'764'547'199 * kSecond + 999'999'999,
      4'000'000'000 * kSecond};
  Dice dice(random);
  GoldenCase c;
  c.algorithm = &AlgorithmOf(dice.OneOf(kNames));
  c.limit = LimitFor(*c.algorithm, dice);
  c.now_ns = dice.OneOf(kStarts);
  const uint64_t capacity = c.algorithm->Capacity(c.limit);
  std::vector<GoldenCase> cases;
  std::vector<GoldenCase> taken;
  for (int i = 0; i < steps; ++i) {
    c.refunds =
        c.algorithm != &Penalty() && !taken.empty() && dice.Below(4) == 0;
    c.ask = {dice.Below(3) == 0 ? capacity : dice.Log(capacity), 0,
             0xFFFFFFFFFFFFFF00 + static_cast<uint64_t>(i)};
    if (dice.Below(4) == 0) c.ask.reserved = dice.Below(capacity);
    c.ask.reserved = std::min(c.ask.reserved, capacity - c.ask.cost);
    if (c.algorithm == &Penalty()) c.ask = Ask();
    c.taken_at_ns = 0;
    if (c.refunds) {
      const GoldenCase& before = taken[dice.Below(taken.size())];
      c.ask = before.ask;
      c.taken_at_ns = before.taken_at_ns;
    }
    cases.push_back(c);
    const GoldenOutcome outcome = OutcomeOf(c);
    if (outcome.mark == 't') {
      taken.push_back(c);
      taken.back().taken_at_ns = Read(c, c.state).at_ns();
    }
    c.state = outcome.state;
    constexpr int64_t kLatest = 4'200'000'000 * kSecond;
    c.now_ns = std::clamp<int64_t>(c.now_ns + Step(c.limit, dice), 1, kLatest);
  }
  return cases;
}

}  // namespace tollgate::redis
