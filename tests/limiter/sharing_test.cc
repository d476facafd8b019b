// One limit shared by several limiters, and what was granted elsewhere.
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "server/base/clock.h"
#include "server/limiter/limiter.h"
#include "server/limiter/rule_set.h"
#include "tests/limiter/nodes.h"

namespace tollgate {
namespace {

constexpr int64_t kStartNs = 1'700'000'000'000'000'000;

Rule PerUser(uint64_t tokens, uint64_t burst) {
  Rule rule;
  rule.domain = "shop";
  rule.name = "per-user";
  rule.key = {{{{"user", std::nullopt}}}};
  rule.limits = {*Limit::Create(tokens, absl::Seconds(1), burst)};
  rule.algorithm = FindAlgorithm("token_bucket");
  return rule;
}

class Shared {
 public:
  explicit Shared(const Rule& rule) {
    EXPECT_TRUE(limiter.SetRules(*RuleSet::Create({rule})).ok());
  }
  [[nodiscard]] Request Ask(uint32_t sharers, uint64_t cost = 1) const {
    Request request;
    request.domain = "shop";
    request.descriptors = descriptors_;
    request.cost = cost;
    request.sharers = sharers;
    return request;
  }
  int Passes(const Request& request) {
    int passed = 0;
    while (passed < 100'000 && limiter.Decide(request).allowed()) ++passed;
    return passed;
  }

  FakeClock clock{kStartNs};
  Limiter limiter{clock};

 private:
  const std::array<Entry, 1> entries_{{{"user", "ana"}}};
  const std::array<Descriptor, 1> descriptors_{Descriptor(entries_)};
};

TEST(Sharing, EachOfSeveralGetsItsPartRoundedDown) {
  for (const auto& [sharers, share] : {std::pair<uint32_t, int>{1, 107},
                                       {2, 53},
                                       {8, 13},
                                       {53, 2},
                                       {54, 1},
                                       {107, 1}}) {
    Shared shared(PerUser(107, 107));
    EXPECT_EQ(shared.Passes(shared.Ask(sharers)), share) << sharers;
  }
}

TEST(Sharing, LeavesARequestAPeriodWhereThereAreMoreThanTokens) {
  for (const uint32_t sharers : {108U, 1000U, 0xFFFFFFFFU}) {
    Shared shared(PerUser(107, 300));
    EXPECT_EQ(shared.Passes(shared.Ask(sharers)), 2);
    shared.clock.Advance(1'000'000'000);
    EXPECT_EQ(shared.Passes(shared.Ask(sharers)), 1);
  }
}

TEST(Sharing, RefillsAtItsPartExactly) {
  Shared shared(PerUser(1000, 1000));
  EXPECT_EQ(shared.Passes(shared.Ask(8)), 125);
  shared.clock.Advance(7'999'999);
  EXPECT_FALSE(shared.limiter.Decide(shared.Ask(8)).allowed());
  shared.clock.Advance(1);
  EXPECT_TRUE(shared.limiter.Decide(shared.Ask(8)).allowed());
}

TEST(Sharing, ACostAboveThePartIsImpossible) {
  Shared shared(PerUser(1000, 1000));
  EXPECT_EQ(shared.limiter.Decide(shared.Ask(8, 126)).outcome,
            Outcome::kImpossible);
  EXPECT_EQ(shared.limiter.Decide(shared.Ask(8, 125)).outcome,
            Outcome::kAllowed);
  EXPECT_EQ(shared.limiter.Decide(shared.Ask(0xFFFFFFFF, kMaxCost)).outcome,
            Outcome::kImpossible);
}

TEST(Sharing, ASpentPartStaysSpentWhenTheNumberChanges) {
  Shared shared(PerUser(1000, 1000));
  ASSERT_EQ(shared.Passes(shared.Ask(8)), 125);
  EXPECT_EQ(shared.Passes(shared.Ask(1)), 0);
  shared.clock.Advance(500'000'000);
  EXPECT_EQ(shared.Passes(shared.Ask(4)), 125);
}

TEST(Sharing, WhatIsReservedIsSharedAlike) {
  Rule rule = PerUser(1000, 1000);
  rule.reserve = Reserve{"class", {{"low", 20}, {"high", 0}}, "low"};
  Shared shared(rule);
  EXPECT_EQ(shared.Passes(shared.Ask(8)), 100) << "an eighth of 800";
}

TEST(Sharing, WhatIsReservedGivesWayToOneRequest) {
  Rule rule = PerUser(10, 10);
  rule.reserve = Reserve{"class", {{"low", 50}, {"high", 0}}, "low"};
  rule.cost = 2;
  for (const uint32_t sharers : {2U, 3U, 5U, 1000U}) {
    Shared shared(rule);
    EXPECT_EQ(shared.Passes(shared.Ask(sharers)), 1) << sharers;
  }
  Shared alone(rule);
  EXPECT_EQ(alone.Passes(alone.Ask(1)), 2);
  EXPECT_EQ(alone.limiter.Decide(alone.Ask(1, 3)).outcome,
            Outcome::kImpossible);
}

TEST(Sharing, APenaltyComesAfterAnEvenPartOfTheRefusals) {
  Rule rule = PerUser(1, 1);
  rule.penalty = PenaltyRule{
      *Limit::Create(12, absl::Hours(1), 12)->WithHold(absl::Hours(1))};
  for (const auto& [sharers, refusals] :
       {std::pair<uint32_t, int>{1, 12}, {4, 3}, {5, 2}, {12, 1}, {1000, 1}}) {
    Shared shared(rule);
    ASSERT_EQ(shared.Passes(shared.Ask(sharers)), 1);  // and one refusal
    int counted = 1;
    while (shared.limiter.Decide(shared.Ask(sharers)).retry_after_ns <
           3'000'000'000'000) {
      ++counted;
    }
    EXPECT_EQ(counted, refusals) << sharers;
  }
}

Rule UserNode(std::vector<NodeLimit> limits) {
  return NodeAt({{"user", "", false}}, std::move(limits));
}

TEST(Sharing, NodesAreSharedEachLimitByItself) {
  for (const auto& [sharers, share] :
       {std::pair<uint32_t, int>{1, 20}, {3, 6}, {20, 1}, {0xFFFFFFFF, 1}}) {
    Shared shared(UserNode({Written(100, LimitUnit::kHour), Written(20)}));
    EXPECT_EQ(shared.Passes(shared.Ask(sharers)), share) << sharers;
  }
}

TEST(Sharing, ACostAboveThePartOfANodeIsImpossible) {
  Shared shared(UserNode({Written(100)}));
  EXPECT_EQ(shared.limiter.Decide(shared.Ask(4, 26)).outcome,
            Outcome::kImpossible);
  EXPECT_EQ(shared.limiter.Decide(shared.Ask(4, 25)).outcome,
            Outcome::kAllowed);
  Shared large(UserNode({Written(kMaxCost)}));
  EXPECT_EQ(large.limiter.Decide(large.Ask(0xFFFFFFFF, kMaxCost)).outcome,
            Outcome::kImpossible);
}

TEST(Sharing, TwoDescriptorsOfOneNodeTakeThePartTogether) {
  Shared shared(UserNode({Written(100)}));
  const std::array<Entry, 1> entries{{{"user", "bo"}}};
  const std::array<Descriptor, 2> both{entries, entries};
  Request request = shared.Ask(4, 13);
  request.descriptors = both;
  EXPECT_EQ(shared.limiter.Decide(request).outcome, Outcome::kImpossible);
  request.cost = 12;
  EXPECT_EQ(shared.limiter.Decide(request).outcome, Outcome::kAllowed);
  EXPECT_EQ(shared.limiter.Decide(request).outcome, Outcome::kRefused);
}

TEST(Spend, TakesWhatANodeGrantedElsewhere) {
  Shared shared(UserNode({Written(100)}));
  for (int i = 0; i < 10; ++i) shared.limiter.Spend(shared.Ask(4));
  EXPECT_EQ(shared.Passes(shared.Ask(4)), 15);
}

TEST(Spend, TakesWhatWasGrantedElsewhereAndLeavesNoDebt) {
  Shared shared(PerUser(10, 10));
  for (int i = 0; i < 6; ++i) shared.limiter.Spend(shared.Ask(1));
  EXPECT_EQ(shared.Passes(shared.Ask(1)), 4);
  for (int i = 0; i < 50; ++i) shared.limiter.Spend(shared.Ask(1));
  shared.clock.Advance(100'000'000);
  EXPECT_EQ(shared.Passes(shared.Ask(1)), 1);
}

TEST(Spend, TakesFromEachRuleOnItsOwn) {
  Rule all = PerUser(100, 100);
  all.name = "all";
  all.key.clear();
  Shared shared(PerUser(1, 1));
  ASSERT_TRUE(
      shared.limiter.SetRules(*RuleSet::Create({PerUser(1, 1), all})).ok());
  for (int i = 0; i < 40; ++i) shared.limiter.Spend(shared.Ask(1));
  const Decision decision = shared.limiter.Decide(shared.Ask(1, 0));
  ASSERT_EQ(decision.statuses.size(), 2);
  EXPECT_EQ(decision.statuses[0].remaining, 0);
  EXPECT_EQ(decision.statuses[1].remaining, 60);
}

TEST(Spend, TakesNoSlots) {
  Rule rule = PerUser(2, 2);
  rule.algorithm = FindAlgorithm("concurrency");
  Shared shared(rule);
  for (int i = 0; i < 10; ++i) shared.limiter.Spend(shared.Ask(1));
  EXPECT_EQ(shared.Passes(shared.Ask(1)), 2);
}

}  // namespace
}  // namespace tollgate
