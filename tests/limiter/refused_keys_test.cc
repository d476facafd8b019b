#include "server/limiter/refused_keys.h"

#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/base/clock.h"
#include "server/limiter/limiter.h"
#include "tests/limiter/ask.h"
#include "tests/limiter/limits.h"
#include "tests/limiter/nodes.h"

namespace tollgate {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using Keep = RefusedKeysOptions::Mode;

constexpr RefusedKeysQuery kEverything{"", "", 100, 100};

struct Watched {
  explicit Watched(Keep mode = Keep::kOn, size_t keys = 100)
      : limiter(clock,
                LimiterOptions{
                    .refused_keys = {.mode = mode, .keys_per_rule = keys}}) {}

  RefusedKeysReport Report(const RefusedKeysQuery& query = kEverything) {
    const auto report = limiter.ReportRefusedKeys(query);
    if (!report.has_value()) std::abort();
    return *report;
  }
  // "RULE KEY COUNT" of every key, with "(shadow)" where it is one.
  std::vector<std::string> Keys(const RefusedKeysQuery& query = kEverything) {
    std::vector<std::string> keys;
    for (const RefusedRule& rule : Report(query).rules) {
      for (const HeavyKey& key : rule.keys) {
        keys.push_back(rule.rule->name + " " + key.text + " " +
                       std::to_string(key.count) +
                       (key.shadow ? " (shadow)" : ""));
      }
    }
    return keys;
  }
  void Ask(const std::string& user, int times, uint64_t cost = 1) {
    for (int i = 0; i < times; ++i) {
      AskFor(limiter, {{"user", user}, {"ip", "192.0.2.1"}}, cost);
    }
  }

  FakeClock clock{kStart};
  Limiter limiter;
};

TEST(RefusedKeys, AreThoseThatRulesRefuseTheMostRefusedFirst) {
  Watched watched;
  SetRules(watched.limiter, {MakeRule("per-user", {"user"}, {PerHour(2)})});
  watched.Ask("ana", 3);
  watched.clock.Advance(kSecond);
  watched.Ask("bob", 7);
  watched.Ask("eve", 2);

  const RefusedKeysReport report = watched.Report();
  ASSERT_EQ(report.rules.size(), 1u);
  EXPECT_EQ(report.rules[0].rule->name, "per-user");
  EXPECT_EQ(report.rules[0].total, 6u);
  EXPECT_EQ(report.rules[0].since_ns, kStart);
  ASSERT_EQ(report.rules[0].keys.size(), 2u);
  EXPECT_EQ(report.rules[0].keys[0].text, "user=bob");
  EXPECT_EQ(report.rules[0].keys[0].count, 5u);
  EXPECT_EQ(report.rules[0].keys[0].error, 0u);
  EXPECT_EQ(report.rules[0].keys[0].last_ns, kStart + kSecond);
  EXPECT_EQ(report.rules[0].keys[1].text, "user=ana");
  EXPECT_EQ(report.rules[0].keys[1].last_ns, kStart);
  EXPECT_EQ(report.rules_left_out, 0u);
  EXPECT_EQ(report.missed, 0u);
}

TEST(RefusedKeys, AreCountedForEachRuleThatRefusesAndForNoOther) {
  Watched watched;
  SetRules(watched.limiter, {MakeRule("pair", {"user", "ip"}, {PerHour(1)}),
                             MakeRule("per-ip", {"ip"}, {PerHour(2)}),
                             MakeRule("all", {}, {PerHour(100)})});
  watched.Ask("ana", 2);  // the second is refused by the pair
  watched.Ask("bob", 1);
  watched.Ask("eve", 1);  // by the address alone

  EXPECT_THAT(watched.Keys(), ElementsAre("pair user=ana, ip=192.0.2.1 1",
                                          "per-ip ip=192.0.2.1 1"));
}

TEST(RefusedKeys, CountAKeyOnceThoughSeveralOfItsLimitsRefuse) {
  Watched watched;
  SetRules(watched.limiter,
           {MakeRule("two", {"user"}, {PerSecond(1), PerHour(1)})});
  watched.Ask("ana", 3);
  EXPECT_THAT(watched.Keys(), ElementsAre("two user=ana 2"));
  watched.clock.Advance(kSecond);
  watched.Ask("ana", 1);  // now only the second limit refuses
  EXPECT_THAT(watched.Keys(), ElementsAre("two user=ana 3"));
}

TEST(RefusedKeys, AreOfTheDescriptorThatSelectedTheBucket) {
  Watched watched;
  SetRules(watched.limiter, {MakeRule("per-user", {"user"}, {PerHour(1)})});
  AskAll(watched.limiter, {{{"x", "y"}}, {{"user", "ana"}}, {{"user", "bob"}}});
  AskAll(watched.limiter, {{{"x", "y"}}, {{"user", "bob"}}, {{"user", "eve"}}});
  EXPECT_THAT(watched.Keys(), ElementsAre("per-user user=bob 1"));
}

TEST(RefusedKeys, TellShadowRefusalsApart) {
  Watched watched;
  Rule trial = MakeRule("trial", {"user"}, {PerHour(1)});
  trial.mode = Mode::kShadow;
  SetRules(watched.limiter, {trial});
  watched.Ask("ana", 3);
  EXPECT_THAT(watched.Keys(), ElementsAre("trial user=ana 2 (shadow)"));
}

TEST(RefusedKeys, CountKeysThatAPenaltyBlocks) {
  Watched watched;
  Rule rule = MakeRule("login", {"user"}, {PerSecond(1)});
  rule.penalty = PenaltyRule{Holding(PerHour(1), absl::Minutes(10))};
  SetRules(watched.limiter, {rule});
  watched.Ask("ana", 3);  // allowed, refused, refused and blocked
  watched.clock.Advance(5 * kSecond);
  watched.Ask("ana", 1);  // has a token, and is blocked
  EXPECT_THAT(watched.Keys(), ElementsAre("login user=ana 3"));
}

TEST(RefusedKeys, AreWholeDescriptorsUnderRulesOfNodes) {
  Watched watched;
  SetRules(watched.limiter,
           {NodeAt({{"group", "bar"}, {"user", ""}}, {Written(2)}),
            NodeAt({{"path", "/a/*", /*share=*/true}}, {Written(1)})});
  for (int i = 0; i < 5; ++i) {
    AskAll(watched.limiter, {{{"group", "bar"}, {"user", "ana"}}});
  }
  for (const char* path : {"/a/1", "/a/2", "/a/3"}) {
    AskFor(watched.limiter, {{"path", path}});
  }
  EXPECT_THAT(watched.Keys(),
              ElementsAre("group_bar.user group=bar, user=ana 3",
                          "path_/a/* path=/a/* 2"));
}

TEST(RefusedKeys, AreCountedUnderLimitsThatRequestsBringAlong) {
  Watched watched;
  SetRules(watched.limiter, {MakeRule("per-user", {"user"}, {PerHour(9)})});
  for (int i = 0; i < 3; ++i) {
    AskOn(watched.limiter, {{{"user", "ana"}}},
          {Override(1, LimitUnit::kHour)});
  }
  EXPECT_THAT(watched.Keys(), ElementsAre("_override user=ana 2"));
}

TEST(RefusedKeys, DoNotCountPeeksAndWhatIsImpossible) {
  Watched watched;
  SetRules(watched.limiter, {MakeRule("per-user", {"user"}, {PerHour(2)})});
  watched.Ask("ana", 2);
  watched.Ask("ana", 1, /*cost=*/0);
  watched.Ask("ana", 1, /*cost=*/3);
  EXPECT_THAT(watched.Keys(), IsEmpty());
  watched.Ask("ana", 1);
  EXPECT_THAT(watched.Keys(), ElementsAre("per-user user=ana 1"));
}

TEST(RefusedKeys, ShowNoTextWhenHashedButTellKeysApart) {
  Watched watched(Keep::kHashed);
  SetRules(watched.limiter, {MakeRule("per-user", {"user"}, {PerHour(1)})});
  watched.Ask("ana", 3);
  watched.Ask("bob", 2);

  const std::vector<HeavyKey> keys = watched.Report().rules.at(0).keys;
  ASSERT_EQ(keys.size(), 2u);
  for (const HeavyKey& key : keys) {
    EXPECT_THAT(key.text, MatchesRegex("#[0-9a-f]+"));
    EXPECT_EQ(key.text.size(), 17u);
  }
  EXPECT_NE(keys[0].text, keys[1].text);
  watched.Ask("ana", 1);
  EXPECT_EQ(watched.Report().rules.at(0).keys.at(0).text, keys[0].text);
}

TEST(RefusedKeys, AreNotReportedWhenOff) {
  Watched watched(Keep::kOff);
  SetRules(watched.limiter, {MakeRule("per-user", {"user"}, {PerHour(1)})});
  watched.Ask("ana", 3);
  EXPECT_FALSE(watched.limiter.ReportRefusedKeys(kEverything).has_value());
}

TEST(RefusedKeys, KeepAllThatIsKnownAcrossAReload) {
  Watched watched;
  SetRules(watched.limiter, {MakeRule("per-user", {"user"}, {PerHour(1)})});
  watched.Ask("ana", 2);
  SetRules(watched.limiter, {MakeRule("other", {"user"}, {PerHour(1)}),
                             MakeRule("per-user", {"user"}, {PerHour(1)})});
  watched.Ask("ana", 1);
  EXPECT_THAT(watched.Keys(), ElementsAre("per-user user=ana 2"));
}

TEST(RefusedKeys, ReportOnlyWhatIsAskedFor) {
  Watched watched;
  Rule other = MakeRule("a", {"user"}, {PerHour(1)});
  other.domain = "bank";
  SetRules(watched.limiter, {MakeRule("a", {"user"}, {PerHour(1)}),
                             MakeRule("b", {"user"}, {PerHour(2)}), other});
  watched.Ask("ana", 4);
  watched.Ask("bob", 3);
  const std::vector<Entry> entries = {{"user", "eve"}};
  const Descriptor descriptor(entries);
  for (int i = 0; i < 2; ++i) {
    watched.limiter.Decide(Request{"bank", {&descriptor, 1}});
  }

  EXPECT_THAT(watched.Keys({"shop", "", 9, 9}),
              ElementsAre("a user=ana 3", "a user=bob 2"));
  EXPECT_THAT(watched.Keys({"shop", "b", 9, 9}), IsEmpty());
  EXPECT_THAT(watched.Keys({"", "a", 9, 1}),
              ElementsAre("a user=ana 3", "a user=eve 1"));
  const RefusedKeysReport one = watched.Report({"", "", 1, 9});
  EXPECT_EQ(one.rules.size(), 1u);
  EXPECT_EQ(one.rules_left_out, 1u);
  EXPECT_THAT(watched.Report({"nobody", "", 9, 9}).rules, IsEmpty());
}

TEST(RefusedKeys, FadeAndAreForgottenByTheSweep) {
  Watched watched;
  SetRules(watched.limiter, {MakeRule("per-user", {"user"}, {PerHour(1)})});
  watched.Ask("ana", 3);
  watched.clock.Advance(absl::ToInt64Nanoseconds(absl::Minutes(10)));
  EXPECT_THAT(watched.Keys(), ElementsAre("per-user user=ana 1"));
  watched.clock.Advance(absl::ToInt64Nanoseconds(absl::Minutes(10)));
  watched.limiter.Sweep(1);
  EXPECT_THAT(watched.Report().rules, IsEmpty());
}

// Sketches of rules that need no limiter.
struct Sketches {
  explicit Sketches(size_t keys_per_rule = 2)
      : keys({.mode = Keep::kOn,
              .keys_per_rule = keys_per_rule,
              .half_life = absl::Seconds(1)}) {}

  void Add(uint32_t rule, uint64_t key, int64_t now_ns = kStart) {
    while (ids.size() <= rule) {
      ids.push_back(std::make_unique<RuleId>(
          RuleId{static_cast<uint32_t>(ids.size()), &domain,
                 "r" + std::to_string(ids.size())}));
    }
    keys.Add(*ids[rule], {key, key}, now_ns, /*shadow=*/false,
             [&](std::string& text) { text = std::to_string(key); });
  }

  DomainId domain{0, "shop"};
  std::vector<std::unique_ptr<RuleId>> ids;
  RefusedKeys keys;
};

TEST(RefusedKeys, ARuleAboveTheBoundIsMissedUntilAnotherIsQuiet) {
  Sketches sketches;
  for (uint32_t rule = 0; rule < RefusedKeys::kMaxRules; ++rule) {
    sketches.Add(rule, rule, kStart + rule);
  }
  const RefusedKeysQuery query{"", "", 9999, 9};
  EXPECT_EQ(sketches.keys.Report(query, kStart).rules.size(),
            RefusedKeys::kMaxRules);

  sketches.Add(RefusedKeys::kMaxRules, 1, kStart + kSecond - 1);
  EXPECT_EQ(sketches.keys.Report(query, kStart).missed, 1u);
  EXPECT_EQ(sketches.keys.Report(query, kStart).rules.size(),
            RefusedKeys::kMaxRules);

  sketches.Add(RefusedKeys::kMaxRules, 1, kStart + kSecond);
  EXPECT_EQ(sketches.keys.Report(query, kStart).missed, 1u);
  const RefusedKeysReport one = sketches.keys.Report(
      {"", "r" + std::to_string(RefusedKeys::kMaxRules), 9, 9}, kStart);
  EXPECT_EQ(one.rules.size(), 1u);
  EXPECT_THAT(sketches.keys.Report({"", "r0", 9, 9}, kStart).rules, IsEmpty())
      << "r0 has been quiet longest";
}

TEST(RefusedKeys, AReportHasBoundedKeysOverAllRules) {
  Sketches sketches(1000);
  for (uint32_t rule = 0; rule < 6; ++rule) {
    for (uint64_t key = 0; key < 999; ++key) sketches.Add(rule, key);
  }
  const RefusedKeysReport report =
      sketches.keys.Report({"", "", 100, 1000}, kStart);
  size_t keys = 0;
  for (const RefusedRule& rule : report.rules) keys += rule.keys.size();
  EXPECT_EQ(keys, RefusedKeys::kMaxReportKeys);
  EXPECT_EQ(report.rules.size(), 6u);
  EXPECT_EQ(report.rules[5].keys.size(), 5u);
}

}  // namespace
}  // namespace tollgate
