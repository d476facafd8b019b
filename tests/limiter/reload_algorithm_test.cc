// Reloads of the limiter, for every algorithm.
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "server/base/clock.h"
#include "server/limiter/limiter.h"
#include "tests/limiter/ask.h"
#include "tests/limiter/limits.h"

namespace tollgate {
namespace {

class Reload : public testing::TestWithParam<const char*> {
 protected:
  static Rule WithTokens(uint64_t tokens) {
    return With(GetParam(), PerHour(tokens));
  }
  static Rule With(const std::string& algorithm, Limit limit) {
    if (algorithm == "leaky_bucket") {
      limit = Holding(limit, absl::Nanoseconds(1));
    }
    Rule rule = MakeRule("r", {"user"}, {limit});
    rule.algorithm = FindAlgorithm(algorithm);
    return rule;
  }
  bool Take(uint64_t cost) {
    return AskFor(limiter_, {{"user", "ana"}}, cost).allowed();
  }
  uint64_t Left() { return Remaining(limiter_, {{"user", "ana"}}); }

  FakeClock clock_{kStart};
  Limiter limiter_{clock_};
};

INSTANTIATE_TEST_SUITE_P(Named, Reload,
                         testing::Values("token_bucket", "leaky_bucket",
                                         "fixed_window", "sliding_window",
                                         "sliding_log", "concurrency"),
                         [](const auto& test) {
                           return std::string(test.param);
                         });

TEST_P(Reload, RaisingGivesTheDifferenceAtOnce) {
  SetRules(limiter_, {WithTokens(10)});
  ASSERT_TRUE(Take(10));

  SetRules(limiter_, {WithTokens(20)});

  EXPECT_EQ(Left(), 10u);
  EXPECT_FALSE(Take(11));
  EXPECT_TRUE(Take(10));
  EXPECT_FALSE(Take(1));
}

TEST_P(Reload, LoweringNeverGrants) {
  SetRules(limiter_, {WithTokens(20)});
  ASSERT_TRUE(Take(7));

  SetRules(limiter_, {WithTokens(10)});
  EXPECT_EQ(Left(), 3u);
  SetRules(limiter_, {WithTokens(5)});
  EXPECT_EQ(Left(), 0u);
  EXPECT_FALSE(Take(1));
}

TEST_P(Reload, AnotherAlgorithmHasFreshBucketsAndTheOldOnesStay) {
  const char* const other = std::string(GetParam()) == "token_bucket"
                                ? "sliding_log"
                                : "token_bucket";
  SetRules(limiter_, {WithTokens(10)});
  ASSERT_TRUE(Take(10));

  SetRules(limiter_, {With(other, PerHour(10))});
  EXPECT_EQ(Left(), 10u);
  ASSERT_TRUE(Take(1));

  SetRules(limiter_, {WithTokens(10)});
  EXPECT_EQ(Left(), 0u);
}

TEST_P(Reload, ARuleThatComesBackFindsItsBuckets) {
  SetRules(limiter_, {WithTokens(10)});
  ASSERT_TRUE(Take(6));
  SetRules(limiter_, {});
  EXPECT_TRUE(Take(100));

  SetRules(limiter_, {WithTokens(12)});

  EXPECT_EQ(Left(), 6u);
}

TEST_P(Reload, SeveralReloadsBetweenTwoTouchesKeepWhatIsSpent) {
  SetRules(limiter_, {WithTokens(10)});
  ASSERT_TRUE(Take(4));

  for (const uint64_t tokens : {30, 8, 300, 4, 9}) {
    SetRules(limiter_, {WithTokens(tokens)});
  }

  EXPECT_EQ(Left(), 5u);
  EXPECT_TRUE(Take(5));
  EXPECT_FALSE(Take(1));
}

TEST_P(Reload, WhatWasFullAtTheReloadIsFullThoughNobodyLookedThen) {
  SetRules(limiter_, {With(GetParam(), MakeLimit(10, absl::Seconds(1)))});
  ASSERT_TRUE(Take(10));
  clock_.Advance(2 * kSecond);  // sliding_window: two windows

  SetRules(limiter_, {With(GetParam(), MakeLimit(10, absl::Hours(24)))});
  clock_.Advance(kSecond);
  SetRules(limiter_, {With(GetParam(), MakeLimit(10, absl::Hours(48)))});

  EXPECT_EQ(Left(), 10u);
  EXPECT_TRUE(Take(10));
}

TEST_P(Reload, ASweepAfterAReloadForgetsOnlyWhatIsFull) {
  SetRules(limiter_, {With(GetParam(), MakeLimit(10, absl::Seconds(1)))});
  ASSERT_TRUE(Take(10));
  SetRules(limiter_, {With(GetParam(), MakeLimit(10, absl::Hours(1)))});

  // A hold keeps the expiry that it was given.
  clock_.Advance(kSecond - 1);
  limiter_.Sweep(100);
  EXPECT_EQ(limiter_.bucket_count(), 1u);
  clock_.Advance(2 * 3600 * kSecond);
  limiter_.Sweep(100);
  EXPECT_EQ(limiter_.bucket_count(), 0u);
}

}  // namespace
}  // namespace tollgate
