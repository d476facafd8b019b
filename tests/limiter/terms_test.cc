// What a request may say of each descriptor on its own: hits, refunds, limits
// of its own, under native rules and under nodes.
#include <cstdint>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/base/clock.h"
#include "server/limiter/fixed_window.h"
#include "tests/limiter/nodes.h"

namespace tollgate {
namespace {

using ::testing::SizeIs;

class Terms : public ::testing::Test {
 protected:
  void SetUp() override {
    SetRules(limiter_, {MakeRule("per-user", {"user"}, {PerMinute(10)}),
                        MakeRule("site", {}, {PerMinute(100)})});
  }
  uint64_t LeftFor(const char* user) {
    return Remaining(limiter_, {{"user", user}});
  }

  FakeClock clock_{kStart};
  Limiter limiter_{clock_};
  const std::vector<Entry> ana_ = {{"user", "ana"}};
  const std::vector<Entry> bob_ = {{"user", "bob"}};
};

TEST_F(Terms, HitsTakeThePlaceOfTheCostForTheirDescriptor) {
  EXPECT_TRUE(AskOn(limiter_, {ana_, bob_}, {Hits(4), {}}, 2).allowed());
  EXPECT_EQ(LeftFor("ana"), 6u);
  EXPECT_EQ(LeftFor("bob"), 8u);
}

TEST_F(Terms, ANativeBucketIsChargedOnceForTheDescriptorThatAsksTheMost) {
  const Decision decision =
      AskOn(limiter_, {ana_, ana_, ana_}, {Hits(0), Hits(2), Hits(7)});
  EXPECT_TRUE(decision.allowed());
  EXPECT_FALSE(decision.by_descriptor);
  ASSERT_THAT(decision.statuses, SizeIs(2));
  EXPECT_EQ(decision.statuses[0].descriptor, 2u);
  EXPECT_EQ(decision.statuses[0].remaining, 3u);
  EXPECT_EQ(decision.statuses[1].remaining, 93u) << "site, in rule order";
}

TEST_F(Terms, AStatusNamesTheDescriptorThatSelectedIt) {
  const Decision decision = AskAll(limiter_, {bob_, ana_});
  ASSERT_THAT(decision.statuses, SizeIs(3));
  EXPECT_EQ(decision.statuses[2].rule->name, "site");
  EXPECT_EQ(decision.statuses[2].descriptor, 0u);
  EXPECT_NE(decision.statuses[0].descriptor, decision.statuses[1].descriptor);
}

TEST_F(Terms, ARefusalGivesBackWhatOtherDescriptorsTook) {
  const Decision decision = AskOn(limiter_, {ana_, bob_}, {Hits(3), Hits(11)});
  EXPECT_EQ(decision.outcome, Outcome::kImpossible);
  EXPECT_EQ(LeftFor("ana"), 10u);
  EXPECT_FALSE(AskOn(limiter_, {bob_, ana_}, {Hits(10), Hits(11)}).allowed());
  EXPECT_EQ(LeftFor("bob"), 10u);
}

TEST_F(Terms, AProbeOfANativeRuleTakesNothingAndIsRefusedAsACostOfOne) {
  EXPECT_TRUE(AskOn(limiter_, {ana_}, {Hits(0)}).allowed());
  EXPECT_EQ(LeftFor("ana"), 10u);
  EXPECT_TRUE(AskFor(limiter_, ana_, 10).allowed());
  const Decision probe = AskOn(limiter_, {ana_}, {Hits(0)});
  EXPECT_EQ(probe.outcome, Outcome::kRefused);
  EXPECT_EQ(probe.statuses[0].action, BucketAction::kProbe);
}

TEST_F(Terms, ARefundIsAllowedAndNeverLiftsABucketAboveItsCapacity) {
  EXPECT_TRUE(AskFor(limiter_, ana_, 9).allowed());
  const Decision decision = AskOn(limiter_, {ana_}, {GiveBack(4)});
  EXPECT_TRUE(decision.allowed());
  EXPECT_EQ(decision.statuses[0].remaining, 5u);
  EXPECT_EQ(decision.statuses[0].action, BucketAction::kRefund);
  EXPECT_TRUE(AskOn(limiter_, {ana_}, {GiveBack(kMaxCost)}).allowed());
  EXPECT_EQ(LeftFor("ana"), 10u);
  EXPECT_FALSE(AskFor(limiter_, ana_, 11).allowed());
}

TEST_F(Terms, ARefundIsKeptWhereTheRestOfTheRequestIsRefused) {
  EXPECT_TRUE(AskFor(limiter_, ana_, 9).allowed());
  const Decision decision =
      AskOn(limiter_, {bob_, ana_}, {Hits(11), GiveBack(4)});
  EXPECT_FALSE(decision.allowed());
  EXPECT_EQ(LeftFor("ana"), 5u);
}

TEST_F(Terms, ACostOfZeroIsAPeekWhateverTheTerms) {
  EXPECT_TRUE(AskFor(limiter_, ana_, 4).allowed());
  const Decision decision =
      AskOn(limiter_, {ana_, bob_}, {GiveBack(4), Hits(3)}, 0);
  EXPECT_TRUE(decision.peek);
  EXPECT_TRUE(decision.allowed());
  EXPECT_EQ(LeftFor("ana"), 6u);
  EXPECT_EQ(LeftFor("bob"), 10u);
}

TEST_F(Terms, ALimitOfTheRequestsOwnTakesThePlaceOfTheRules) {
  const std::vector<DescriptorTerms> own = {Override(2, LimitUnit::kHour)};
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(AskOn(limiter_, {ana_}, own).allowed());
  }
  const Decision decision = AskOn(limiter_, {ana_}, own);
  EXPECT_EQ(decision.outcome, Outcome::kRefused);
  ASSERT_THAT(decision.statuses, SizeIs(1));
  EXPECT_EQ(decision.statuses[0].rule->name, "_override");
  EXPECT_EQ(ToEnvoyLimit(decision.statuses[0]).requests_per_unit, 2u);
  EXPECT_EQ(ToEnvoyLimit(decision.statuses[0]).unit, LimitUnit::kHour);
  EXPECT_EQ(LeftFor("ana"), 10u) << "rules are not asked";
}

TEST_F(Terms, BucketsOfOwnLimitsAreOfTheEntriesAndTheLimit) {
  EXPECT_TRUE(
      AskOn(limiter_, {ana_}, {Override(1, LimitUnit::kHour)}).allowed());
  EXPECT_TRUE(
      AskOn(limiter_, {ana_}, {Override(1, LimitUnit::kDay)}).allowed());
  EXPECT_TRUE(
      AskOn(limiter_, {ana_}, {Override(2, LimitUnit::kHour)}).allowed());
  EXPECT_TRUE(
      AskOn(limiter_, {bob_}, {Override(1, LimitUnit::kHour)}).allowed());
  EXPECT_FALSE(
      AskOn(limiter_, {ana_}, {Override(1, LimitUnit::kHour)}).allowed());
}

TEST_F(Terms, AnOwnLimitOfZeroRefusesEverything) {
  const Decision decision =
      AskOn(limiter_, {ana_}, {Override(0, LimitUnit::kMinute)});
  EXPECT_EQ(decision.outcome, Outcome::kImpossible);
  EXPECT_TRUE(decision.statuses[0].refuses_all);
  EXPECT_EQ(ToEnvoyLimit(decision.statuses[0]).requests_per_unit, 0u);
  EXPECT_EQ(ToEnvoyLimit(decision.statuses[0]).unit, LimitUnit::kMinute);
  EXPECT_EQ(decision.statuses[0].reset_after_ns, 60 * kSecond);
}

TEST_F(Terms, TooManyDifferentOwnLimitsAreAnErrorThatTakesNothing) {
  for (uint64_t n = 1; n <= OverrideLimits::kMaxLimits; ++n) {
    ASSERT_TRUE(
        AskOn(limiter_, {bob_}, {Override(n, LimitUnit::kHour)}).allowed());
  }
  const Decision decision = AskOn(
      limiter_, {ana_, bob_},
      {Hits(1), Override(OverrideLimits::kMaxLimits + 1, LimitUnit::kHour)});
  EXPECT_EQ(decision.outcome, Outcome::kOverridden);
  EXPECT_THAT(decision.statuses, SizeIs(0));
  EXPECT_EQ(LeftFor("ana"), 10u);
  EXPECT_TRUE(
      AskOn(limiter_, {bob_}, {Override(7, LimitUnit::kHour)}).allowed())
      << "those that are known stay";
}

TEST_F(Terms, AnOwnLimitMeansNothingInAnUnknownDomain) {
  const Descriptor view(ana_);
  const std::vector<DescriptorTerms> terms = {Override(0, LimitUnit::kHour)};
  Request request{"elsewhere", {&view, 1}};
  request.terms = terms;
  EXPECT_TRUE(limiter_.Decide(request).allowed());
}

TEST(OverrideLimits, TakeNoRoomUntilThereIsOne) {
  EXPECT_LE(sizeof(OverrideLimits), 256);
}

TEST(ValidateRequest, NamesABadTerm) {
  const std::vector<Entry> entries = {{"user", "ana"}};
  const std::vector<Descriptor> views = {entries, entries};
  const auto message = [&](const std::vector<DescriptorTerms>& terms) {
    Request request{"shop", views};
    request.terms = terms;
    return std::string(ValidateRequest(request).message());
  };
  EXPECT_EQ(message({}), "");
  EXPECT_EQ(message({{}}), "terms: got 1, want 0 or 2");
  EXPECT_EQ(message({{}, Hits(kMaxCost)}), "");
  EXPECT_EQ(message({{}, Hits(kMaxCost + 1)}),
            "descriptors[1].hits_addend: got 4294967296, want at most "
            "4294967295");
  EXPECT_EQ(message({Override(1, LimitUnit::kWeek), {}}), "");
  EXPECT_EQ(message({Override(1, LimitUnit::kUnknown), {}}),
            "descriptors[0].limit.unit: got 0, want 1 to 7: second, minute, "
            "hour, day, month, year, week");
  EXPECT_EQ(message({Override(1, static_cast<LimitUnit>(8)), {}}),
            "descriptors[0].limit.unit: got 8, want 1 to 7: second, minute, "
            "hour, day, month, year, week");
}

}  // namespace
}  // namespace tollgate
