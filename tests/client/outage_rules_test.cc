#include "client/outage_rules.h"

#include <atomic>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "client/backoff.h"
#include "client/outage_refusal.h"
#include "gtest/gtest.h"
#include "server/base/clock.h"

namespace tollgate::client {
namespace {

constexpr int64_t kStartNs = 1'700'000'000'000'000'000;
constexpr int64_t kSecondNs = 1'000'000'000;

Rule PerUser(const std::string& algorithm, std::vector<Limit> limits) {
  Rule rule;
  rule.domain = "shop";
  rule.name = "per-user";
  rule.key = {{{{"user", std::nullopt}}}};
  rule.limits = std::move(limits);
  rule.algorithm = FindAlgorithm(algorithm);
  return rule;
}

Rule PerUser(uint64_t tokens) {
  return PerUser("token_bucket", {*Limit::Create(tokens, absl::Seconds(1))});
}

Request Ana(uint32_t cost = 1) { return {"shop", {{{"user", "ana"}}}, cost}; }

struct Outage {
  Outage(uint32_t clients, std::vector<Rule> pushed) {
    rules.OnPolicy({"0123abcd", clients, std::move(pushed)});
    EXPECT_EQ(rules.stats().errors, 0);
  }
  // How many requests of `cost` pass before one is refused.
  int Passes(const Request& request) {
    int passed = 0;
    while (passed < 1'000'000 && rules.Decide(request).allowed) ++passed;
    return passed;
  }

  FakeClock clock{kStartNs};
  OutageRules rules{clock};
};

TEST(OutageRules, GivesEachOfEightClientsItsEvenShareRoundedDown) {
  Outage outage(8, {PerUser(1003)});
  EXPECT_EQ(outage.Passes(Ana()), 125);
  outage.clock.Advance(kSecondNs);
  EXPECT_EQ(outage.Passes(Ana()), 125);
  // 1003 a second for eight is one in 7,976,071 ns, and not one sooner.
  outage.clock.Advance(10 * kSecondNs);
  ASSERT_EQ(outage.Passes(Ana()), 125);
}

TEST(OutageRules, EightSharesTogetherAreNeverMoreThanTheLimitPlusTheBurst) {
  Outage outage(8, {PerUser(1000)});
  int passed = 0;
  for (int ms = 0; ms < 10'000; ++ms) {
    passed += outage.rules.Decide(Ana()).allowed ? 1 : 0;
    outage.clock.Advance(kSecondNs / 1000);
  }
  EXPECT_LE(passed, 125 + 1250);
  EXPECT_GE(passed, 125 + 1249);
}

TEST(OutageRules, SharesEveryAlgorithmAlike) {
  for (const char* algorithm :
       {"token_bucket", "fixed_window", "sliding_window", "sliding_log",
        "leaky_bucket", "concurrency"}) {
    Limit limit = *Limit::Create(18, absl::Seconds(1));
    if (std::string(algorithm) == "leaky_bucket") {
      limit = *limit.WithHold(absl::Nanoseconds(1));
    }
    Outage outage(4, {PerUser(algorithm, {limit})});
    EXPECT_EQ(outage.Passes(Ana()), 4) << algorithm;
  }
}

TEST(OutageRules, SharesEachLimitOfARuleByItself) {
  Outage outage(
      4, {PerUser("token_bucket", {*Limit::Create(8, absl::Seconds(1)),
                                   *Limit::Create(20, absl::Hours(24))})});
  EXPECT_EQ(outage.Passes(Ana()), 2);
  outage.clock.Advance(kSecondNs);
  EXPECT_EQ(outage.Passes(Ana()), 2);
  outage.clock.Advance(kSecondNs);
  EXPECT_EQ(outage.Passes(Ana()), 1) << "the day's 20 are five each";
}

TEST(OutageRules, LeavesEachClientOneTokenAPeriodHoweverManyThereAre) {
  Outage outage(1000, {PerUser(5)});
  EXPECT_EQ(outage.Passes(Ana()), 1);
  outage.clock.Advance(kSecondNs - 1);
  EXPECT_EQ(outage.Passes(Ana()), 0);
  outage.clock.Advance(1);
  EXPECT_EQ(outage.Passes(Ana()), 1);
}

TEST(OutageRules, LeavesEachClientOneRequestOfARuleThatCostsMore) {
  Rule search = PerUser(100);
  search.cost = 10;
  Outage outage(50, {search});
  EXPECT_EQ(outage.Passes(Ana()), 1);
  EXPECT_EQ(outage.rules.Decide(Ana(2)).outcome, Outcome::kImpossible);
}

TEST(OutageRules, KeepsATierAndItsShare) {
  Rule rule = PerUser(1);
  rule.limits.clear();
  rule.tier = Tier{"plan",
                   {{"free", {*Limit::Create(8, absl::Seconds(1))}},
                    {"paid", {*Limit::Create(80, absl::Seconds(1))}}},
                   "free"};
  Outage outage(4, {rule});
  EXPECT_EQ(outage.Passes({"shop", {{{"user", "ana"}}}, 1}), 2);
  EXPECT_EQ(outage.Passes({"shop", {{{"user", "bo"}, {"plan", "paid"}}}, 1}),
            20);
}

TEST(OutageRules, SaysItsSourceTheRuleTheShareAndTheWait) {
  Outage outage(8, {PerUser(1000)});
  const Decision allowed = outage.rules.Decide(Ana());
  EXPECT_EQ(allowed.source, Source::kBackstop);
  ASSERT_EQ(allowed.statuses.size(), 1);
  EXPECT_EQ(allowed.statuses[0].rule, "per-user");
  EXPECT_EQ(allowed.statuses[0].tokens, 125);
  EXPECT_EQ(allowed.statuses[0].burst, 125);
  EXPECT_EQ(allowed.statuses[0].remaining, 124);
  outage.Passes(Ana());
  const Decision refused = outage.rules.Decide(Ana());
  EXPECT_EQ(refused.outcome, Outcome::kRefused);
  EXPECT_EQ(refused.source, Source::kBackstop);
  EXPECT_EQ(refused.retry_after, absl::Milliseconds(8));
}

TEST(OutageRules, ARuleThatRefusesRefusesAllAndGivesBackWhatOthersTook) {
  Rule login = PerUser(1000);
  login.name = "login";
  login.match = {{"path", {Pattern::Exact("/login")}}};
  login.algorithm = &OutageRefusal();
  Outage outage(1, {PerUser(2), login});
  const Request request{"shop", {{{"user", "ana"}, {"path", "/login"}}}, 1};
  for (int i = 0; i < 10; ++i) {
    const Decision decision = outage.rules.Decide(request);
    EXPECT_EQ(decision.outcome, Outcome::kRefused);
    EXPECT_EQ(decision.source, Source::kOutagePolicy);
    EXPECT_EQ(decision.retry_after, absl::Seconds(1));
  }
  EXPECT_EQ(outage.Passes(Ana()), 2) << "other requests are as ever";
}

TEST(OutageRules, ARuleThatAllowsDoesNotLimit) {
  Rule rule = PerUser(1);
  rule.mode = Mode::kOff;  // what an allowing rule is read as
  Outage outage(8, {rule});
  EXPECT_TRUE(outage.rules.Covers("shop"));
  for (int i = 0; i < 100; ++i) {
    const Decision decision = outage.rules.Decide(Ana());
    EXPECT_TRUE(decision.allowed);
    EXPECT_EQ(decision.source, Source::kOutagePolicy);
  }
}

TEST(OutageRules, AnAllowListTakesOutWhatItNamesEvenIfThatRefuses) {
  Rule login = PerUser(1000);
  login.algorithm = &OutageRefusal();
  Rule staff;
  staff.domain = "shop";
  staff.name = "staff";
  staff.match = {{"user", {Pattern::Exact("root")}}};
  staff.unlimited = true;
  staff.skips = {"per-user", "a-rule-that-is-off"};
  Outage outage(8, {login, staff});
  EXPECT_FALSE(outage.rules.Decide(Ana()).allowed);
  EXPECT_TRUE(outage.rules.Decide({"shop", {{{"user", "root"}}}, 1}).allowed);
}

TEST(OutageRules, AnAllowListOfRulesThatAreNotThereTakesOutNothing) {
  Rule staff;
  staff.domain = "shop";
  staff.name = "staff";
  staff.unlimited = true;
  staff.skips = {"a-rule-that-is-off"};
  Outage outage(1, {PerUser(2), staff});
  EXPECT_EQ(outage.Passes(Ana()), 2);
}

TEST(OutageRules, WhatTheServiceGrantedIsSpentWhenTheOutageBegins) {
  Outage outage(8, {PerUser(1000)});
  for (int i = 0; i < 100; ++i) outage.rules.Mirror(Ana());
  EXPECT_EQ(outage.Passes(Ana()), 25);
  EXPECT_EQ(outage.Passes({"shop", {{{"user", "bo"}}}, 1}), 125);
}

TEST(OutageRules, MoreThanTheShareThatTheServiceGrantedLeavesNoDebt) {
  Outage outage(8, {PerUser(1000)});
  for (int i = 0; i < 1000; ++i) outage.rules.Mirror(Ana());
  EXPECT_EQ(outage.Passes(Ana()), 0);
  outage.clock.Advance(kSecondNs);
  EXPECT_EQ(outage.Passes(Ana()), 125);
}

TEST(OutageRules, MirrorsEachRuleThoughAnotherHasNothingLeft) {
  Rule all = PerUser(1000);
  all.name = "all";
  all.key.clear();
  Outage outage(8, {PerUser(8), all});
  for (int i = 0; i < 100; ++i) outage.rules.Mirror(Ana());
  int passed = 0;
  for (int user = 0; user < 100; ++user) {
    const Request other{"shop", {{{"user", std::to_string(user)}}}, 1};
    passed += outage.rules.Decide(other).allowed ? 1 : 0;
  }
  EXPECT_EQ(passed, 25);
}

TEST(OutageRules, ANumberOfClientsThatGrowsKeepsWhatIsSpent) {
  Outage outage(1, {PerUser(1000)});
  for (int i = 0; i < 600; ++i) ASSERT_TRUE(outage.rules.Decide(Ana()).allowed);
  outage.rules.OnPolicy({"0123abcd", 8, std::nullopt});
  EXPECT_EQ(outage.rules.stats().clients, 8);
  EXPECT_EQ(outage.Passes(Ana()), 50) << "an eighth of the 400 that are left";
}

TEST(OutageRules, BelievesFewerClientsOnlyOnceAStreamHasSaidSoForTenSeconds) {
  Outage outage(8, {PerUser(1000)});
  outage.rules.OnPolicyLost(absl::UnavailableError("gone"));
  const auto tell = [&](uint32_t clients) {
    outage.rules.OnPolicy({"0123abcd", clients, std::nullopt});
    return outage.rules.stats().clients;
  };
  EXPECT_EQ(tell(1), 8);
  outage.clock.Advance(9 * kSecondNs);
  EXPECT_EQ(tell(2), 8);
  outage.rules.OnPolicyLost(absl::UnavailableError("gone again"));
  outage.clock.Advance(100 * kSecondNs);
  EXPECT_EQ(tell(1), 8) << "the outage says nothing of the number";
  outage.clock.Advance(10 * kSecondNs);
  EXPECT_EQ(tell(2), 2);
  EXPECT_EQ(tell(3), 3);
}

TEST(OutageRules, NewRulesReplaceTheOldAndSpentStaysSpent) {
  Outage outage(1, {PerUser(10)});
  for (int i = 0; i < 6; ++i) ASSERT_TRUE(outage.rules.Decide(Ana()).allowed);
  Rule mail = PerUser(1);
  mail.domain = "mail";
  outage.rules.OnPolicy({"4567cdef", 1, std::vector<Rule>{PerUser(20), mail}});
  EXPECT_EQ(outage.rules.stats().hash, "4567cdef");
  EXPECT_EQ(outage.Passes(Ana()), 14);
  EXPECT_TRUE(outage.rules.Covers("mail"));
  outage.rules.OnPolicy({"", 1, std::vector<Rule>{}});
  EXPECT_FALSE(outage.rules.Covers("shop"));
}

TEST(OutageRules, KeepsThePolicyWhenTheStreamEndsAndSaysItsAge) {
  Outage outage(8, {PerUser(1000)});
  EXPECT_TRUE(outage.rules.stats().connected);
  EXPECT_EQ(outage.rules.stats().age, absl::ZeroDuration());
  outage.rules.OnPolicyLost(absl::UnavailableError("gone"));
  outage.clock.Advance(3600 * kSecondNs);
  const PolicyStats stats = outage.rules.stats();
  EXPECT_FALSE(stats.connected);
  EXPECT_EQ(stats.age, absl::Hours(1));
  EXPECT_EQ(stats.hash, "0123abcd");
  EXPECT_EQ(stats.losses, 1);
  EXPECT_EQ(outage.Passes(Ana()), 125);
}

TEST(OutageRules, KeepsWhatItHasIfNewRulesMakeNoSense) {
  Outage outage(1, {PerUser(3)});
  outage.rules.OnPolicy({"bad", 1, std::vector<Rule>{PerUser(1), PerUser(2)}});
  EXPECT_EQ(outage.rules.stats().errors, 1);
  EXPECT_EQ(outage.rules.stats().hash, "0123abcd");
  EXPECT_EQ(outage.Passes(Ana()), 3);
}

TEST(OutageRules, HoldsSlotsUntilTheyAreReleased) {
  Outage outage(
      2, {PerUser("concurrency", {*Limit::Create(4, absl::Seconds(30))})});
  const Decision first = outage.rules.Decide(Ana());
  const Decision second = outage.rules.Decide(Ana());
  ASSERT_TRUE(first.allowed && second.allowed);
  EXPECT_FALSE(outage.rules.Decide(Ana()).allowed);
  EXPECT_FALSE(outage.rules.Release("a ticket of the service's"));
  EXPECT_TRUE(outage.rules.Release(first.ticket));
  EXPECT_TRUE(outage.rules.Release(first.ticket)) << "twice is no error";
  EXPECT_EQ(outage.Passes(Ana()), 1);
}

TEST(OutageRules, ThreadsTakeExactlyTheShareWhilePoliciesComeAndGo) {
  Outage outage(8, {PerUser(8000)});
  std::atomic<int> passed{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) {
        passed += outage.rules.Decide(Ana()).allowed ? 1 : 0;
        outage.rules.Mirror({"shop", {{{"user", std::to_string(i)}}}, 1});
      }
    });
  }
  for (int i = 0; i < 50; ++i) {
    outage.rules.OnPolicy({"0123abcd", 8, std::vector<Rule>{PerUser(8000)}});
    outage.rules.OnPolicyLost(absl::UnavailableError("gone"));
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(passed, 1000);
}

TEST(Backoff, DoublesUpToTheLongestAndStartsAgainAfterAReset) {
  Backoff backoff(100, 350);
  for (const int64_t pause : {100, 200, 350, 350}) {
    EXPECT_EQ(backoff.Next(0), pause);
  }
  backoff.Reset();
  EXPECT_EQ(backoff.Next(0), 100);
  EXPECT_EQ(backoff.Next(0xFFFFFFFF), 101) << "the cut is below a half";
}

}  // namespace
}  // namespace tollgate::client
