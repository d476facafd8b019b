// What happens to keys that have no bucket while the table is full.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/base/clock.h"
#include "tests/limiter/ask.h"
#include "tests/limiter/limits.h"

namespace tollgate {
namespace {

class OverflowTest : public testing::Test {
 protected:
  // One stripe, so that it is plain which buckets a request looks at to make
  // room: 8 of them, going round.
  static LimiterOptions Options(size_t max_buckets) {
    LimiterOptions options;
    options.max_buckets = max_buckets;
    options.stripes = 1;
    return options;
  }

  // A limiter with room for `max_buckets`, all taken by keys k0, k1, ... of
  // the first of the rules.
  void Fill(size_t max_buckets, std::vector<Rule> rules) {
    limiter_.emplace(clock_, Options(max_buckets));
    SetRules(*limiter_, std::move(rules));
    for (size_t i = 0; i < max_buckets; ++i) {
      ASSERT_TRUE(Ask("k" + std::to_string(i)).allowed());
    }
    ASSERT_EQ(limiter_->bucket_count(), max_buckets);
  }

  Decision Ask(const std::string& user, uint64_t cost = 1) {
    return AskFor(*limiter_, {{"user", user}}, cost);
  }
  Decision AskWith(const std::string& user, const std::string& key,
                   const std::string& value, uint64_t cost = 1) {
    return AskFor(*limiter_, {{"user", user}, {key, value}}, cost);
  }
  Decision Refund(const std::string& user, const Decision& decision,
                  uint64_t cost) {
    const std::vector<Entry> entries = {{"user", user}};
    const Descriptor view(entries);
    return limiter_->Refund(Request{"shop", {&view, 1}, cost},
                            decision.decided_at_ns, decision.overflow);
  }
  size_t Reset(const std::string& user) {
    const std::vector<Entry> entries = {{"user", user}};
    const Descriptor view(entries);
    return limiter_->Reset(Request{"shop", {&view, 1}, 1}, "");
  }

  FakeClock clock_{kStart};
  std::optional<Limiter> limiter_;
};

Rule PerUser(Limit limit) { return MakeRule("per-user", {"user"}, {limit}); }

TEST_F(OverflowTest, BeginsWithTheFirstKeyAboveTheCap) {
  limiter_.emplace(clock_, Options(3));
  SetRules(*limiter_, {PerUser(PerHour(5))});

  EXPECT_FALSE(Ask("a").statuses[0].overflow);
  EXPECT_FALSE(Ask("b").statuses[0].overflow);  // one below
  EXPECT_FALSE(Ask("c").statuses[0].overflow);  // the last
  const Decision above = Ask("d");

  EXPECT_TRUE(above.allowed());
  EXPECT_TRUE(above.statuses[0].overflow);
  EXPECT_EQ(above.overflow.size(), 1u);
  EXPECT_EQ(limiter_->bucket_count(), 3u);
}

TEST_F(OverflowTest, SharesOneBucketOfTheRulesOwnLimit) {
  Fill(2, {PerUser(PerHour(5))});
  for (const char* user : {"k0", "k1"}) ASSERT_TRUE(Ask(user, 4).allowed());

  for (int i = 0; i < 5; ++i) {
    const Decision decision = Ask("new" + std::to_string(i));
    ASSERT_TRUE(decision.allowed()) << i;
    EXPECT_EQ(decision.statuses[0].limit, PerHour(5));
    EXPECT_EQ(decision.statuses[0].remaining, 4u - static_cast<unsigned>(i));
  }

  const Decision refused = Ask("new5");
  EXPECT_EQ(refused.outcome, Outcome::kRefused);
  EXPECT_TRUE(refused.statuses[0].overflow);
  EXPECT_TRUE(refused.overflow.empty());  // nothing was taken
  EXPECT_EQ(refused.retry_after_ns, 720 * kSecond);
  EXPECT_EQ(refused.stands_for_ns, 0);  // it may get a bucket of its own
  clock_.Advance(720 * kSecond - 1);
  EXPECT_FALSE(Ask("new5").allowed());
  clock_.Advance(1);
  EXPECT_TRUE(Ask("new6").statuses[0].overflow);
}

TEST_F(OverflowTest, ExistingKeysKeepTheirBucketsAndCounts) {
  Fill(3, {PerUser(PerHour(5))});
  for (int i = 0; i < 100; ++i) Ask("new" + std::to_string(i));

  for (int i = 0; i < 3; ++i) {
    const std::string user = "k" + std::to_string(i);
    for (uint64_t left = 4; left > 0; --left) {
      const Decision decision = Ask(user);
      ASSERT_TRUE(decision.allowed());
      EXPECT_FALSE(decision.statuses[0].overflow);
      EXPECT_EQ(decision.statuses[0].remaining, left - 1);
    }
    const Decision refused = Ask(user);
    EXPECT_FALSE(refused.allowed());
    EXPECT_FALSE(refused.statuses[0].overflow);
  }
}

TEST_F(OverflowTest, EachRuleAndEachLimitHasABucketOfItsOwn) {
  // Both rules of a new key, and both limits of one, are in need.
  Fill(1, {PerUser(PerHour(5)),
           MakeRule("pair", {"user", "path"}, {PerHour(2), PerHour(3)})});
  limiter_->Sweep(0);

  const Decision first = AskWith("new", "path", "/a");
  ASSERT_EQ(first.statuses.size(), 3u);
  EXPECT_EQ(first.overflow.size(), 3u);
  EXPECT_EQ(first.statuses[0].remaining, 4u);
  EXPECT_EQ(first.statuses[1].remaining, 1u);
  EXPECT_EQ(first.statuses[2].remaining, 2u);

  // Whichever user and path.
  EXPECT_TRUE(AskWith("other", "path", "/b").allowed());
  const Decision refused = AskWith("third", "path", "/c");
  EXPECT_FALSE(refused.allowed());
  EXPECT_EQ(refused.statuses[0].remaining, 3u);
  EXPECT_EQ(refused.statuses[1].remaining, 0u);
  EXPECT_EQ(refused.statuses[2].remaining, 1u);
}

TEST_F(OverflowTest, TakesAllOrNothingAcrossOwnAndSharedBuckets) {
  Rule all = MakeRule("all", {}, {PerHour(100)});
  Fill(2, {all, PerUser(PerHour(3))});  // the buckets of `all` and of k0
  ASSERT_TRUE(Ask("k1").statuses[1].overflow);
  ASSERT_TRUE(Ask("k2").allowed());
  // Neither will be full again in this test.
  ASSERT_TRUE(Ask("k0").allowed());
  ASSERT_TRUE(AskFor(*limiter_, {{"ip", "x"}}, 60).allowed());
  const uint64_t left = Ask("k0", 0).statuses[0].remaining;

  for (int i = 0; i < 10; ++i) EXPECT_FALSE(Ask("k3").allowed());
  EXPECT_EQ(Ask("k0", 0).statuses[0].remaining, left);

  // And the other way: what the shared bucket gave goes back there.
  SetRules(*limiter_, {PerUser(PerHour(3)), all});
  clock_.Advance(1200 * kSecond);  // one token more there
  ASSERT_EQ(Ask("new", 0).statuses[0].remaining, 1u);
  while (AskFor(*limiter_, {{"ip", "x"}}).allowed()) {
  }
  EXPECT_FALSE(Ask("new").allowed());
  EXPECT_EQ(Ask("new", 0).statuses[0].remaining, 1u);
}

TEST_F(OverflowTest, APeekMakesNothingAndSaysWhatATakeWouldGet) {
  Fill(2, {PerUser(PerHour(5))});
  ASSERT_TRUE(Ask("new", 3).allowed());

  for (int i = 0; i < 3; ++i) {
    const Decision peek = Ask("other", 0);
    EXPECT_TRUE(peek.statuses[0].overflow);
    EXPECT_EQ(peek.statuses[0].remaining, 2u);
    EXPECT_TRUE(peek.overflow.empty());
  }
  EXPECT_EQ(Ask("k0", 0).statuses[0].remaining, 4u);
  EXPECT_FALSE(Ask("k0", 0).statuses[0].overflow);

  // Once a bucket can be forgotten, a take would get one of its own.
  clock_.Advance(3600 * kSecond);
  const Decision peek = Ask("other", 0);
  EXPECT_FALSE(peek.statuses[0].overflow);
  EXPECT_EQ(peek.statuses[0].remaining, 5u);
}

TEST_F(OverflowTest, ANewKeyForgetsAFewBucketsToGetOneOfItsOwn) {
  Fill(100, {PerUser(PerSecond(1))});
  ASSERT_TRUE(Ask("late").statuses[0].overflow);
  clock_.Advance(kSecond);  // all are full again

  const Decision decision = Ask("new");

  EXPECT_FALSE(decision.statuses[0].overflow);
  EXPECT_EQ(limiter_->bucket_count(), 100u - 8 + 1);
  EXPECT_EQ(limiter_->swept_count(), 8u);
}

TEST_F(OverflowTest, LooksAtAFewBucketsForEachNewKeyAndGoesRound) {
  // Of 100 buckets only the last made can be forgotten.
  limiter_.emplace(clock_, Options(100));
  SetRules(*limiter_,
           {PerUser(PerHour(1)), MakeRule("fast", {"fast"}, {PerSecond(1)})});
  for (int i = 0; i < 99; ++i) Ask("k" + std::to_string(i));
  ASSERT_TRUE(AskFor(*limiter_, {{"fast", "x"}}).allowed());
  clock_.Advance(kSecond);

  for (int i = 0; i < 12; ++i) {
    ASSERT_TRUE(Ask("new").statuses[0].overflow) << i;
  }
  EXPECT_FALSE(Ask("new").statuses[0].overflow);
}

TEST_F(OverflowTest, ASweepMakesRoomAndANewKeyGetsItsOwn) {
  Fill(20, {PerUser(PerSecond(4))});
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(Ask("new").allowed());
  ASSERT_FALSE(Ask("new").allowed());
  clock_.Advance(kSecond / 4);
  ASSERT_EQ(limiter_->Sweep(20), 20u);

  // The documented bound: what the shared bucket gave, and its own limit.
  for (int i = 0; i < 4; ++i) {
    const Decision decision = Ask("new");
    ASSERT_TRUE(decision.allowed());
    EXPECT_FALSE(decision.statuses[0].overflow);
  }
  EXPECT_FALSE(Ask("new").allowed());
  EXPECT_FALSE(Ask("new").statuses[0].overflow);
}

TEST_F(OverflowTest, ARefundGoesToTheBucketThatWasCharged) {
  Fill(1, {PerUser(PerSecond(4))});
  const Decision shared = Ask("new", 4);
  ASSERT_TRUE(shared.allowed());
  // The key gets a bucket of its own before the refund.
  clock_.Advance(kSecond / 4);
  ASSERT_EQ(limiter_->Sweep(1), 1u);
  ASSERT_TRUE(Ask("new", 4).allowed());
  ASSERT_FALSE(Ask("new").allowed());

  const Decision after = Refund("new", shared, 2);

  EXPECT_TRUE(after.statuses[0].overflow);
  EXPECT_EQ(after.statuses[0].remaining, 3u);  // 1 had refilled
  EXPECT_FALSE(Ask("new").allowed());          // not the key's own
}

TEST_F(OverflowTest, ARefundOfWhatAForgottenBucketGaveGoesNowhere) {
  Fill(1, {PerUser(PerSecond(4))});
  const Decision own = Ask("k0", 3);
  ASSERT_TRUE(own.allowed());
  clock_.Advance(kSecond);
  ASSERT_TRUE(
      AskFor(*limiter_, {{"user", "other"}}).allowed());  // has the room
  ASSERT_TRUE(Ask("new", 4).statuses[0].overflow);

  Refund("k0", own, 3);

  EXPECT_EQ(Ask("new", 0).statuses[0].remaining, 0u);
}

TEST_F(OverflowTest, ARefundNeverLiftsTheSharedBucketAboveItsCapacity) {
  Fill(1, {PerUser(PerHour(4))});
  const Decision shared = Ask("new", 1);

  EXPECT_EQ(Refund("new", shared, 4).statuses[0].remaining, 4u);
  EXPECT_EQ(Refund("new", shared, 1).statuses[0].remaining, 4u);
}

TEST_F(OverflowTest, SlotsOfTheSharedBucketAreReleasedThere) {
  Rule rule = PerUser(MakeLimit(2, absl::Seconds(30)));
  rule.algorithm = FindAlgorithm("concurrency");
  Fill(1, {rule});
  const Decision a = Ask("a");
  const Decision b = Ask("b");
  ASSERT_TRUE(a.allowed());
  ASSERT_TRUE(b.statuses[0].overflow);
  ASSERT_FALSE(Ask("c").allowed());

  EXPECT_TRUE(limiter_->Release(a.slots.at(0)));
  EXPECT_TRUE(limiter_->Release(a.slots.at(0)));  // once more frees nothing

  EXPECT_TRUE(Ask("c").allowed());
  EXPECT_FALSE(Ask("d").allowed());
}

TEST_F(OverflowTest, ARefusalOfTheSharedBucketIsNotCountedAgainstTheKey) {
  Rule rule = PerUser(PerSecond(1));
  rule.penalty = PenaltyRule{*PerMinute(1).WithHold(absl::Hours(1))};
  limiter_.emplace(clock_, Options(1));
  SetRules(*limiter_, {rule});
  ASSERT_TRUE(Ask("k0").allowed());
  ASSERT_TRUE(Ask("new").statuses[0].overflow);
  for (int i = 0; i < 10; ++i) ASSERT_FALSE(Ask("new").allowed());
  EXPECT_EQ(limiter_->bucket_count(), 1u);

  clock_.Advance(kSecond);

  EXPECT_TRUE(Ask("new").allowed());
}

TEST_F(OverflowTest, APenaltyThatHasNoRoomIsNotCounted) {
  Rule rule = PerUser(PerSecond(1));
  rule.penalty = PenaltyRule{*PerMinute(1).WithHold(absl::Hours(1))};
  Fill(1, {rule});
  for (int i = 0; i < 10; ++i) {
    const Decision refused = Ask("k0");
    ASSERT_FALSE(refused.allowed());
    ASSERT_EQ(refused.retry_after_ns, kSecond);
  }
  EXPECT_EQ(limiter_->bucket_count(), 1u);
}

TEST_F(OverflowTest, ABlockHoldsForAKeyWhoseBucketIsShared) {
  Rule rule = PerUser(PerSecond(1));
  rule.penalty = PenaltyRule{*PerMinute(1).WithHold(absl::Hours(1))};
  limiter_.emplace(clock_, Options(2));
  SetRules(*limiter_, {rule});
  for (int i = 0; i < 3; ++i) Ask("bad");  // its bucket, and its penalty's
  ASSERT_EQ(limiter_->bucket_count(), 2u);
  clock_.Advance(2 * kSecond);
  ASSERT_EQ(limiter_->Sweep(2), 1u);
  ASSERT_TRUE(Ask("other").allowed());  // has the room now
  ASSERT_TRUE(Ask("new").statuses[0].overflow);

  EXPECT_FALSE(Ask("bad").allowed());
}

TEST_F(OverflowTest, IsAShareOfTheLimitWhereTheRuleSaysSo) {
  Rule rule = PerUser(PerHour(7, /*burst=*/9));
  rule.overflow_percent = 50;
  Fill(1, {rule});

  const Decision first = Ask("new");

  EXPECT_EQ(first.statuses[0].limit, PerHour(3, 4));  // rounded down
  EXPECT_EQ(first.statuses[0].remaining, 3u);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(Ask("new").allowed());
  EXPECT_FALSE(Ask("new").allowed());
}

TEST_F(OverflowTest, HasOneTokenAtLeast) {
  Rule rule = PerUser(PerHour(5));
  rule.overflow_percent = 1;
  Fill(1, {rule});

  EXPECT_TRUE(Ask("new").allowed());
  EXPECT_FALSE(Ask("other").allowed());
}

TEST_F(OverflowTest, ACostThatOnlyAnOwnBucketCanHoldIsRefusedNotImpossible) {
  Rule rule = PerUser(PerSecond(10));
  rule.overflow_percent = 50;
  Fill(1, {rule});

  EXPECT_TRUE(Ask("new", 5).allowed());
  clock_.Advance(kSecond / 20);  // k0 is not full yet
  const Decision refused = Ask("new", 6);
  EXPECT_EQ(refused.outcome, Outcome::kRefused);
  EXPECT_TRUE(refused.statuses[0].overflow);
  EXPECT_EQ(Ask("new", 11).outcome, Outcome::kImpossible);

  clock_.Advance(refused.retry_after_ns);
  EXPECT_TRUE(Ask("new", 6).allowed());
}

TEST_F(OverflowTest, LeavesTheReservedPartOfTheSharedBucket) {
  Rule rule = PerUser(PerHour(100));
  rule.overflow_percent = 10;
  rule.reserve = Reserve{"priority", {{"high", 0}, {"low", 25}}, "low"};
  Fill(1, {rule});

  // A quarter of 10, rounded up, is left.
  for (int i = 0; i < 7; ++i) EXPECT_TRUE(Ask("new").allowed()) << i;
  EXPECT_FALSE(Ask("new").allowed());
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(AskWith("new", "priority", "high").allowed()) << i;
  }
  EXPECT_FALSE(AskWith("new", "priority", "high").allowed());
}

TEST_F(OverflowTest, TiersShareOneBucketAndWhatIsSpentStaysSpent) {
  Rule rule = PerUser(PerHour(1));
  rule.limits.clear();
  rule.tier =
      Tier{"plan", {{"free", {PerHour(2)}}, {"paid", {PerHour(5)}}}, "free"};
  Fill(1, {rule});

  EXPECT_EQ(AskWith("a", "plan", "paid").statuses[0].remaining, 4u);
  EXPECT_EQ(AskWith("b", "plan", "free").statuses[0].remaining, 0u);
  EXPECT_FALSE(AskWith("c", "plan", "free").allowed());
  EXPECT_EQ(AskWith("d", "plan", "paid").statuses[0].remaining, 2u);
}

TEST_F(OverflowTest, AShadowRulesSharedBucketRefusesNobody) {
  Rule rule = PerUser(PerHour(1));
  rule.mode = Mode::kShadow;
  Fill(1, {rule});
  ASSERT_TRUE(Ask("a").allowed());

  const Decision shadow = Ask("b");
  EXPECT_TRUE(shadow.allowed());
  EXPECT_TRUE(shadow.statuses[0].overflow);
  EXPECT_EQ(shadow.statuses[0].outcome, Outcome::kRefused);
  EXPECT_TRUE(shadow.overflow.empty());
}

TEST_F(OverflowTest, WhatIsSpentStaysSpentAcrossAReload) {
  Fill(1, {PerUser(PerHour(5))});
  ASSERT_TRUE(Ask("new", 3).allowed());

  Rule rule = PerUser(PerHour(10));
  rule.overflow_percent = 50;
  SetRules(*limiter_, {rule});
  EXPECT_EQ(Ask("new", 0).statuses[0].remaining, 2u);
  rule.overflow_percent = 40;
  SetRules(*limiter_, {rule});
  EXPECT_EQ(Ask("new", 0).statuses[0].remaining, 1u);
}

TEST_F(OverflowTest, AResetOfAKeyInNeedIsOfTheSharedBucket) {
  Fill(1, {PerUser(PerHour(5))});
  ASSERT_TRUE(Ask("new", 5).allowed());

  EXPECT_EQ(Reset("k0"), 1u);
  ASSERT_TRUE(Ask("k0").allowed());  // or it could be forgotten
  EXPECT_FALSE(Ask("new").allowed());
  EXPECT_EQ(Reset("new"), 1u);
  EXPECT_EQ(Ask("new", 0).statuses[0].remaining, 5u);
}

TEST_F(OverflowTest, EveryAlgorithmKeepsTheSharedLimit) {
  for (const absl::string_view name : AlgorithmNames()) {
    SCOPED_TRACE(name);
    Rule rule = PerUser(PerHour(6));
    if (name == "leaky_bucket")
      rule.limits = {*PerHour(6).WithHold(absl::Nanoseconds(1))};
    rule.algorithm = FindAlgorithm(name);
    rule.overflow_percent = 50;
    Fill(2, {rule});

    int allowed = 0;
    for (int i = 0; i < 20; ++i) {
      const Decision decision = Ask("new" + std::to_string(i));
      ASSERT_TRUE(decision.statuses[0].overflow);
      if (decision.allowed()) ++allowed;
    }
    EXPECT_EQ(allowed, 3);
    EXPECT_EQ(Ask("k0", 0).statuses[0].remaining, 5u);
    EXPECT_EQ(limiter_->bucket_count(), 2u);
    clock_.Advance(7200 * kSecond);
    EXPECT_FALSE(Ask("new").statuses[0].overflow);
  }
}

}  // namespace
}  // namespace tollgate
