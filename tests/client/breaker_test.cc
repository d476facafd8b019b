#include "client/breaker.h"

#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace tollgate::client {
namespace {

using Permit = Breaker::Permit;

constexpr BreakerOptions kOptions{
    .failures = 3, .min_probe_ns = 100, .max_probe_ns = 350};
constexpr uint32_t kMaxRandom = std::numeric_limits<uint32_t>::max();

Breaker OpenedAt(int64_t now_ns, uint32_t random = 0) {
  Breaker breaker(kOptions);
  for (int i = 0; i < 3; ++i) breaker.OnFailure(now_ns, random);
  return breaker;
}

TEST(Breaker, OpensAtTheThirdFailureInARowAndNotAtTheSecond) {
  Breaker breaker(kOptions);
  breaker.OnFailure(0, 0);
  breaker.OnFailure(0, 0);
  EXPECT_EQ(breaker.Ask(0), Permit::kSend);
  breaker.OnFailure(0, 0);
  EXPECT_TRUE(breaker.open());
  EXPECT_EQ(breaker.Ask(0), Permit::kLocal);
}

TEST(Breaker, ASuccessBetweenFailuresKeepsItClosed) {
  Breaker breaker(kOptions);
  for (int i = 0; i < 10; ++i) {
    breaker.OnFailure(0, 0);
    breaker.OnFailure(0, 0);
    breaker.OnSuccess();
  }
  EXPECT_FALSE(breaker.open());
}

TEST(Breaker, PermitsOneProbeAtTheEndOfThePauseAndNotBefore) {
  Breaker breaker = OpenedAt(1000);
  EXPECT_EQ(breaker.Ask(1099), Permit::kLocal);
  EXPECT_EQ(breaker.Ask(1100), Permit::kProbe);
  EXPECT_EQ(breaker.Ask(1100), Permit::kLocal);
  EXPECT_EQ(breaker.Ask(1'000'000), Permit::kLocal);
}

TEST(Breaker, DoublesThePauseAfterEachFailedProbeUpToTheLongest) {
  Breaker breaker = OpenedAt(0);
  int64_t now_ns = 0;
  for (const int64_t pause_ns : {100, 200, 350, 350}) {
    EXPECT_EQ(breaker.Ask(now_ns + pause_ns - 1), Permit::kLocal);
    now_ns += pause_ns;
    EXPECT_EQ(breaker.Ask(now_ns), Permit::kProbe);
    breaker.OnProbeFailure(now_ns, 0);
  }
}

TEST(Breaker, ShortensThePauseByAtMostAHalfAtRandom) {
  Breaker breaker = OpenedAt(0, kMaxRandom);
  EXPECT_EQ(breaker.Ask(50), Permit::kLocal);  // the cut is below a half
  EXPECT_EQ(breaker.Ask(51), Permit::kProbe);
}

TEST(Breaker, AProbeThatSucceedsClosesItAndTheCountStartsAgain) {
  Breaker breaker = OpenedAt(0);
  ASSERT_EQ(breaker.Ask(100), Permit::kProbe);
  breaker.OnProbeSuccess();
  EXPECT_EQ(breaker.Ask(100), Permit::kSend);
  breaker.OnFailure(100, 0);
  breaker.OnFailure(100, 0);
  EXPECT_FALSE(breaker.open());
  breaker.OnFailure(100, 0);
  EXPECT_TRUE(breaker.open());
}

TEST(Breaker, AFailureThatArrivesWhileOpenDoesNotPutOffTheProbe) {
  Breaker breaker = OpenedAt(0);
  breaker.OnFailure(99, 0);
  EXPECT_EQ(breaker.Ask(100), Permit::kProbe);
}

TEST(Breaker, NeverHasTwoProbesOutAcrossClosingAndOpening) {
  Breaker breaker = OpenedAt(0);
  ASSERT_EQ(breaker.Ask(100), Permit::kProbe);
  breaker.OnSuccess();
  for (int i = 0; i < 3; ++i) breaker.OnFailure(200, 0);
  EXPECT_EQ(breaker.Ask(1000), Permit::kLocal);
  breaker.OnProbeFailure(1000, 0);
  EXPECT_EQ(breaker.Ask(1200), Permit::kProbe);
}

// What a breaker must do, written from its whole history: slow and plain.
class NaiveBreaker {
 public:
  struct Event {
    enum class Kind { kFailure, kSuccess, kProbeSent, kProbeOk, kProbeFailed };
    Kind kind;
    int64_t at_ns;
    uint32_t random;
  };
  using Kind = Event::Kind;

  void Add(Kind kind, int64_t at_ns, uint32_t random = 0) {
    history_.push_back({kind, at_ns, random});
  }

  Permit Ask(int64_t now_ns) {
    uint32_t failures = 0;
    bool open = false;
    bool out = false;
    int64_t due_ns = 0;
    int pauses = 0;
    for (const Event& event : history_) {
      const bool failed = event.kind == Kind::kFailure;
      const bool probe_failed = event.kind == Kind::kProbeFailed;
      if (event.kind == Kind::kProbeSent) out = true;
      if (event.kind == Kind::kProbeOk || probe_failed) out = false;
      if (event.kind == Kind::kSuccess || event.kind == Kind::kProbeOk) {
        open = false;
        failures = 0;
      }
      if (failed && !open && ++failures == kOptions.failures) {
        open = true;
        pauses = 0;
        due_ns = event.at_ns + Pause(pauses++, event.random);
      } else if (probe_failed && open) {
        due_ns = event.at_ns + Pause(pauses++, event.random);
      }
    }
    if (!open) return Permit::kSend;
    if (out || now_ns < due_ns) return Permit::kLocal;
    Add(Kind::kProbeSent, now_ns);
    return Permit::kProbe;
  }

 private:
  static int64_t Pause(int nth, uint32_t random) {
    int64_t pause_ns = kOptions.min_probe_ns;
    for (int i = 0; i < nth && pause_ns < kOptions.max_probe_ns; ++i) {
      pause_ns *= 2;
    }
    if (pause_ns > kOptions.max_probe_ns) pause_ns = kOptions.max_probe_ns;
    const long double share = static_cast<long double>(random) / 4294967296.0L;
    return pause_ns - static_cast<int64_t>(share * (pause_ns / 2));
  }

  std::vector<Event> history_;
};

TEST(Breaker, DecidesAsTheNaiveModelOver100000RandomSteps) {
  const uint64_t seed = std::random_device()();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  RecordProperty("seed", std::to_string(seed));
  std::mt19937_64 random(seed);
  int probes_permitted = 0;
  for (int run = 0; run < 1000; ++run) {
    Breaker breaker(kOptions);
    NaiveBreaker naive;
    bool probe_is_out = false;
    int64_t now_ns = 0;
    for (int step = 0; step < 100; ++step) {
      now_ns += static_cast<int64_t>(random() % 120) - 5;  // also backwards
      const auto r = static_cast<uint32_t>(random());
      const uint64_t choice = random() % 10;
      if (choice < 4) {
        breaker.OnFailure(now_ns, r);
        naive.Add(NaiveBreaker::Kind::kFailure, now_ns, r);
      } else if (choice == 4 && random() % 4 == 0) {
        breaker.OnSuccess();
        naive.Add(NaiveBreaker::Kind::kSuccess, now_ns);
      } else if (choice < 7 && probe_is_out) {
        probe_is_out = false;
        if (random() % 4 == 0) {
          breaker.OnProbeSuccess();
          naive.Add(NaiveBreaker::Kind::kProbeOk, now_ns);
        } else {
          breaker.OnProbeFailure(now_ns, r);
          naive.Add(NaiveBreaker::Kind::kProbeFailed, now_ns, r);
        }
      }
      const Permit permit = breaker.Ask(now_ns);
      ASSERT_EQ(permit, naive.Ask(now_ns)) << "run " << run << " step " << step;
      if (permit == Permit::kProbe) {
        probe_is_out = true;
        ++probes_permitted;
      }
    }
  }
  EXPECT_GT(probes_permitted, 1000);  // the steps do reach what they test
}

}  // namespace
}  // namespace tollgate::client
