// What people who run such systems have met in the field: each case with its
// literals. All buckets start full.
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "server/base/clock.h"
#include "server/limiter/limiter.h"
#include "tests/limiter/ask.h"
#include "tests/limiter/limits.h"

namespace tollgate {
namespace {

// A limiter whose only rule has one bucket for all.
class OneBucket {
 public:
  explicit OneBucket(const Limit& limit) : clock_(kStart), limiter_(clock_) {
    SetRules(limiter_, {MakeRule("only", {}, {limit})});
  }

  // Asks at that time after the start.
  Decision At(absl::Duration time, uint64_t cost = 1) {
    clock_.Set(kStart + absl::ToInt64Nanoseconds(time));
    return AskFor(limiter_, {{"user", "ana"}}, cost);
  }

  // How many of `times` requests of cost 1 pass.
  int Allowed(absl::Duration time, int times) {
    int allowed = 0;
    for (int i = 0; i < times; ++i) allowed += At(time).allowed() ? 1 : 0;
    return allowed;
  }

 private:
  FakeClock clock_;
  Limiter limiter_;
};

TEST(FieldCase1, IdleCreditNeverPassesTheBurst) {
  OneBucket bucket(PerSecond(2, 6));

  EXPECT_TRUE(bucket.At(absl::ZeroDuration()).allowed());
  EXPECT_EQ(bucket.Allowed(absl::Milliseconds(2499), 9), 6);
  EXPECT_EQ(bucket.At(absl::Milliseconds(2499), 8).outcome,
            Outcome::kImpossible);
}

TEST(FieldCase2, OnePerMinuteIsBackAfterTheMinuteAndNotBefore) {
  OneBucket bucket(PerMinute(1));

  EXPECT_TRUE(bucket.At(absl::Seconds(0)).allowed());
  EXPECT_FALSE(bucket.At(absl::Seconds(0)).allowed());
  EXPECT_FALSE(bucket.At(absl::Seconds(1)).allowed());
  EXPECT_FALSE(bucket.At(absl::Milliseconds(59'999)).allowed());
  EXPECT_TRUE(bucket.At(absl::Seconds(60)).allowed());
  EXPECT_FALSE(bucket.At(absl::Milliseconds(60'001)).allowed());
}

TEST(FieldCase3, NinetyNineOfAHundredPassAtAlmostTheRate) {
  for (const bool peeking : {false, true}) {
    OneBucket bucket(MakeLimit(5, absl::Seconds(5)));
    ASSERT_TRUE(bucket.At(absl::ZeroDuration(), 5).allowed());

    int allowed = 0;
    for (int k = 1; k <= 100; ++k) {
      const absl::Duration time = absl::Milliseconds(990 * k);
      if (peeking) bucket.At(time, 0);
      const bool passed = bucket.At(time).allowed();
      if (peeking) bucket.At(time, 0);
      allowed += passed ? 1 : 0;
      if (k == 1) {
        EXPECT_FALSE(passed);
      }
    }
    EXPECT_EQ(allowed, 99) << (peeking ? "with peeks" : "without peeks");
  }
}

TEST(FieldCase4, ACostAboveTheBurstIsImpossibleOnAColdKey) {
  OneBucket bucket(PerSecond(10));

  const Decision decision = bucket.At(absl::ZeroDuration(), 15);
  EXPECT_EQ(decision.outcome, Outcome::kImpossible);
  EXPECT_EQ(decision.statuses.at(0).remaining, 10u);
  EXPECT_TRUE(bucket.At(absl::Milliseconds(1), 10).allowed());
}

TEST(FieldCase4, ACostAboveTheBurstIsImpossibleOnAWarmKey) {
  OneBucket bucket(PerSecond(10));
  ASSERT_TRUE(bucket.At(absl::ZeroDuration(), 4).allowed());

  const Decision decision = bucket.At(absl::ZeroDuration(), 15);
  EXPECT_EQ(decision.outcome, Outcome::kImpossible);
  EXPECT_EQ(decision.statuses.at(0).remaining, 6u);
  EXPECT_TRUE(bucket.At(absl::Milliseconds(1), 6).allowed());
}

// Case 5: a user's refused requests take nothing from the site's quota.
class FieldCase5 : public testing::TestWithParam<bool> {
 protected:
  FieldCase5() : clock_(kStart), limiter_(clock_) {
    Rule user = MakeRule("user", {"user"}, {PerMinute(5)});
    Rule site = MakeRule("site", {}, {PerMinute(100)});
    SetRules(limiter_, GetParam() ? std::vector<Rule>{site, user}
                                  : std::vector<Rule>{user, site});
  }

  // The status of the rule of that name.
  static const RuleStatus& Of(const Decision& decision,
                              absl::string_view name) {
    for (const RuleStatus& status : decision.statuses) {
      if (status.rule->name == name) return status;
    }
    std::abort();
  }

  void ExpectTheSiteToHold95() {
    for (int i = 0; i < 95; ++i) {
      const std::string other = "other" + std::to_string(i);
      ASSERT_TRUE(AskFor(limiter_, {{"user", other}}).allowed()) << i;
    }
    const Decision last = AskFor(limiter_, {{"user", "other95"}});
    EXPECT_EQ(last.outcome, Outcome::kRefused);
    EXPECT_EQ(Of(last, "site").outcome, Outcome::kRefused);
    EXPECT_EQ(Of(last, "user").outcome, Outcome::kAllowed);
    EXPECT_EQ(Of(last, "user").remaining, 5u);
    EXPECT_EQ(Of(AskFor(limiter_, {{"user", "other95"}}, 0), "user").remaining,
              5u);
  }

  FakeClock clock_;
  Limiter limiter_;
};

INSTANTIATE_TEST_SUITE_P(InBothOrders, FieldCase5, testing::Bool());

TEST_P(FieldCase5, RefusedRequestsDoNotEatASharedQuota) {
  int allowed = 0;
  for (int i = 0; i < 50; ++i) {
    const Decision decision = AskFor(limiter_, {{"user", "A"}});
    allowed += decision.allowed() ? 1 : 0;
    if (!decision.allowed()) {
      ASSERT_EQ(Of(decision, "user").outcome, Outcome::kRefused);
      ASSERT_EQ(Of(decision, "site").outcome, Outcome::kAllowed);
    }
  }

  EXPECT_EQ(allowed, 5);
  ExpectTheSiteToHold95();
}

TEST_P(FieldCase5, HoldsWithTheRequestsSentBy8Threads) {
  std::atomic<int> sent{0};
  std::atomic<int> allowed{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      while (sent++ < 50) {
        if (AskFor(limiter_, {{"user", "A"}}).allowed()) ++allowed;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();

  EXPECT_EQ(allowed, 5);
  ExpectTheSiteToHold95();
}

TEST(FieldCase6, NoDoubleBurstAtTheEdgeOfAWindow) {
  OneBucket bucket(MakeLimit(10, absl::Seconds(10)));

  EXPECT_TRUE(bucket.At(absl::ZeroDuration()).allowed());
  EXPECT_TRUE(bucket.At(absl::Milliseconds(9'900), 9).allowed());
  EXPECT_EQ(bucket.Allowed(absl::Milliseconds(10'010), 10), 1);
}

TEST(FieldCase7, WaitingExactlyTheRetryAfterSucceeds) {
  OneBucket bucket(MakeLimit(1, absl::Milliseconds(600)));

  EXPECT_TRUE(bucket.At(absl::ZeroDuration()).allowed());
  const Decision refused = bucket.At(absl::Milliseconds(100));
  EXPECT_EQ(refused.outcome, Outcome::kRefused);
  EXPECT_EQ(refused.retry_after_ns, 500 * kMilli);
  EXPECT_TRUE(bucket.At(absl::Milliseconds(600)).allowed());
}

TEST(FieldCase7, AWholeNumberOfSecondsIsNotOneTooMany) {
  OneBucket bucket(MakeLimit(1, absl::Seconds(2)));

  EXPECT_TRUE(bucket.At(absl::ZeroDuration()).allowed());
  EXPECT_EQ(bucket.At(absl::ZeroDuration()).retry_after_ns, 2 * kSecond);
  EXPECT_TRUE(bucket.At(absl::Seconds(2)).allowed());
}

TEST(FieldCase8, TwelveIdleHoursGiveExactlyOneBurst) {
  OneBucket bucket(PerSecond(1000));
  ASSERT_TRUE(bucket.At(absl::ZeroDuration()).allowed());

  EXPECT_EQ(bucket.Allowed(absl::Hours(12), 1500), 1000);
}

TEST(FieldCase8, AClockThatGoesBackAMinuteRefillsNothingTwice) {
  OneBucket bucket(PerSecond(1000));
  ASSERT_TRUE(bucket.At(absl::Hours(1), 1000).allowed());
  const absl::Duration back = absl::Hours(1) - absl::Seconds(60);

  const Decision refused = bucket.At(back, 1000);
  EXPECT_EQ(refused.outcome, Outcome::kRefused);
  EXPECT_LE(refused.retry_after_ns, kSecond);
  EXPECT_FALSE(bucket.At(back + absl::Seconds(1)).allowed());
  EXPECT_FALSE(bucket.At(absl::Hours(1)).allowed());
  EXPECT_EQ(bucket.Allowed(absl::Hours(1) + absl::Seconds(1), 1500), 1000);
}

}  // namespace
}  // namespace tollgate
