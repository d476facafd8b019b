#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/limiter/rule_set.h"
#include "server/rules/rule_file.h"
#include "tests/rules/one_rule.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_files.h"

namespace tollgate {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

Limit PerSecond(uint64_t tokens) {
  return Limit::Create(tokens, absl::Seconds(1)).value();
}

std::string List(const std::string& what, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) absl::StrAppend(&text, what, i, ", ");
  return text;
}

TEST(Match, TakesWildcardsAndLists) {
  const Rule rule = OneRule(
      "limit: 1/second, match: {endpoint: [/login, /api/*, '*.php', ''], "
      "user: '*', ip: 10.*.0.*}");

  ASSERT_EQ(rule.match.size(), 3U);
  EXPECT_THAT(rule.match[0].any_of,
              ElementsAre(Pattern::Exact("/login"), Pattern::Parse("/api/*"),
                          Pattern::Parse("*.php"), Pattern::Exact("")));
  EXPECT_TRUE(rule.match[1].any_of[0].Matches(""));
  EXPECT_TRUE(rule.match[2].any_of[0].Matches("10.1.0.2"));
  EXPECT_FALSE(rule.match[2].any_of[0].Matches("10.1.2.3"));
}

TEST(Match, TakesListsThatCombineToAThousandCases) {
  const Rule rule = OneRule("limit: 1/second, match: {u: [" + List("u", 500) +
                            "x" + "], v: [a]}");
  EXPECT_EQ(rule.match[0].any_of.size(), 501U);
  EXPECT_THAT(OneRule("limit: 1/second, match: {u: [" + List("u", 500) +
                      "], v: [a, b]}")
                  .match,
              testing::SizeIs(2));
}

TEST(Key, TakesAlternativesAsTextAndAsAList) {
  const Rule rule = OneRule(
      "limit: 1/second, key: [a | b, [c, {entry: d}, {entry: ip, prefix: {v4: "
      "24, v6: 48}}], {entry: e, prefix: {}}]");

  ASSERT_EQ(rule.key.size(), 3U);
  EXPECT_EQ(rule.key[0].alternatives[1].entry, "b");
  EXPECT_FALSE(rule.key[0].alternatives[1].prefix.has_value());
  ASSERT_EQ(rule.key[1].alternatives.size(), 3U);
  EXPECT_FALSE(rule.key[1].alternatives[1].prefix.has_value());
  EXPECT_EQ(rule.key[1].alternatives[2].entry, "ip");
  EXPECT_EQ(rule.key[1].alternatives[2].prefix->v4, 24);
  EXPECT_EQ(rule.key[1].alternatives[2].prefix->v6, 48);
  EXPECT_EQ(rule.key[2].alternatives[0].prefix->v4, 32);
  EXPECT_EQ(rule.key[2].alternatives[0].prefix->v6, 64);
}

TEST(Key, TakesPrefixesOfNoBitsAndOfAll) {
  const AddressPrefix none =
      *OneRule("limit: 1/second, key: [{entry: ip, prefix: {v4: 0, v6: 0}}]")
           .key[0]
           .alternatives[0]
           .prefix;
  EXPECT_EQ(none.v4, 0);
  EXPECT_EQ(none.v6, 0);
  EXPECT_EQ(OneRule("limit: 1/second, key: [{entry: ip, prefix: {v6: 128}}]")
                .key[0]
                .alternatives[0]
                .prefix->v6,
            128);
}

TEST(Tier, HasLimitsByTheValueOfAnEntry) {
  const Rule rule = OneRule(
      "key: [user], tier: {entry: plan, default: free, limits: {free: "
      "1/second, paid: [9/second]}}");

  EXPECT_THAT(rule.limits, IsEmpty());
  EXPECT_EQ(rule.tier->entry, "plan");
  EXPECT_EQ(rule.tier->fallback, "free");
  EXPECT_THAT(rule.tier->limits,
              ElementsAre(Pair("free", ElementsAre(PerSecond(1))),
                          Pair("paid", ElementsAre(PerSecond(9)))));
  EXPECT_EQ(OneRule("tier: {entry: p, limits: {a: 1/second}}").tier->fallback,
            "");
}

TEST(Tier, HasOneToSixtyFourOfThemAndNotOneMore) {
  std::string tiers;
  for (int i = 0; i < 64; ++i) absl::StrAppend(&tiers, "t", i, ": 1/day, ");
  const auto with = [](const std::string& limits) {
    return "tier: {entry: p, limits: {" + limits + "}}";
  };
  EXPECT_EQ(OneRule(with(tiers)).tier->limits.size(), 64U);
  EXPECT_THAT(
      ToStatus(ParseRules("{domain: d, rules: [{name: a, " +
                              with(tiers + "more: 1/day") + "}]}",
                          "r")
                   .errors),
      StatusIs(absl::StatusCode::kInvalidArgument,
               testing::HasSubstr("tier.limits: got 65 tiers, want 1 to 64")));
}

TEST(Penalty, BlocksForADuration) {
  const Rule rule =
      OneRule("limit: 1/second, penalty: {block: 10m, after: 100/second}");

  EXPECT_EQ(rule.penalty->after, *PerSecond(100).WithHold(absl::Minutes(10)));
  const auto block = [](const std::string& text) {
    return OneRule("limit: 1/second, penalty: {after: 1/second, block: " +
                   text + "}")
        .penalty->after.hold_ns();
  };
  EXPECT_EQ(block("1ns"), 1);
  EXPECT_EQ(block("3650d"), absl::ToInt64Nanoseconds(absl::Hours(87600)));
}

TEST(Reserve, KeepsSharesOfZeroToNinetyNinePercent) {
  const Rule rule = OneRule(
      "limit: 1/second, reserve: {entry: priority, shares: {critical: 0%, "
      "batch: 99%, 007: 07%}, default: batch}");

  EXPECT_EQ(rule.reserve->entry, "priority");
  EXPECT_EQ(rule.reserve->fallback, "batch");
  EXPECT_THAT(
      rule.reserve->shares,
      ElementsAre(Pair("critical", 0U), Pair("batch", 99U), Pair("007", 7U)));
  EXPECT_EQ(OneRule("limit: 1/second, reserve: {entry: p, shares: {a: 1%}}")
                .reserve->fallback,
            "");
}

TEST(Mode, EnforcesForAPercentageOfTheKeys) {
  const Rule rule = OneRule("limit: 1/second, mode: {enforce: 25%}");

  EXPECT_EQ(rule.mode, Mode::kEnforce);
  EXPECT_EQ(rule.enforce_percent, 25U);
  EXPECT_EQ(OneRule("limit: 1/second, mode: {enforce: 0%}").enforce_percent,
            0U);
  EXPECT_EQ(OneRule("limit: 1/second, mode: {enforce: 100%}").enforce_percent,
            100U);
  EXPECT_EQ(OneRule("limit: 1/second, mode: shadow").enforce_percent, 100U);
}

TEST(OverflowShare, IsAWholePercentageOfTheLimit) {
  const auto share = [](const std::string& field) {
    return OneRule("limit: 1/second" + field).overflow_percent;
  };
  EXPECT_EQ(share(""), 100U);
  EXPECT_EQ(share(", overflow_share: 1%"), 1U);
  EXPECT_EQ(share(", overflow_share: 50%"), 50U);
  EXPECT_EQ(share(", overflow_share: 10000%"), 10'000U);
}

TEST(OnOutage, IsABackstopUnlessToldOtherwise) {
  const auto policy = [](const std::string& field) {
    return OneRule("limit: 1/second" + field).on_outage;
  };
  EXPECT_EQ(policy(""), OutagePolicy::kBackstop);
  EXPECT_EQ(policy(", on_outage: backstop"), OutagePolicy::kBackstop);
  EXPECT_EQ(policy(", on_outage: allow"), OutagePolicy::kAllow);
  EXPECT_EQ(policy(", on_outage: refuse"), OutagePolicy::kRefuse);
}

TEST(Unlimited, SkipsTheRulesThatItNamesOrAll) {
  const LoadedRules loaded = ParseRules(
      "domain: shop\n"
      "rules:\n"
      "  - {name: staff, match: {user: [root, oncall]}, unlimited: true,\n"
      "     skips: [later, off-now]}\n"
      "  - {name: all, match: {user: root}, unlimited: true, mode: shadow}\n"
      "  - {name: later, limit: 1/second}\n"
      "  - {name: off-now, limit: 1/second, mode: off, unlimited: false}\n",
      "r");

  ASSERT_THAT(ToStatus(loaded.errors), IsOk());
  EXPECT_TRUE(loaded.rules[0].unlimited);
  EXPECT_THAT(loaded.rules[0].skips, ElementsAre("later", "off-now"));
  EXPECT_THAT(loaded.rules[1].skips, IsEmpty());
  EXPECT_FALSE(loaded.rules[3].unlimited);
  EXPECT_THAT(RuleSet::Create(loaded.rules), IsOk());
}

TEST(Unlimited, SkipsRulesOfOtherFilesAndNamesTheFileThatIsWrong) {
  TempFiles dir;
  const std::string a = dir.Write(
      "a.yaml",
      "{domain: shop, rules: [{name: x, unlimited: true, skips: [later]}]}");
  const std::string good = dir.Write(
      "b.yaml", "{domain: shop, rules: [{name: later, limit: 1/day}]}");
  EXPECT_THAT(ToStatus(LoadRules(dir.Path("")).errors), IsOk()) << good;

  // A rule of another domain is not it, and errors stay in the files' order.
  const std::string b = dir.Write(
      "b.yaml", "{domain: mall, rules: [{name: later, limit: 0/day}]}");
  EXPECT_THAT(
      ToStatus(LoadRules(dir.Path("")).errors),
      StatusIs(
          absl::StatusCode::kInvalidArgument,
          absl::StrCat(a,
                       ":1:59: rules[0].skips[0]: got \"later\", want the name "
                       "of a rule in domain \"shop\"\n",
                       b,
                       ":1:45: rules[0].limit: got \"0/day\", want at least 1 "
                       "token")));
}

TEST(Unlimited, IsNotBlamedForAFileThatCannotBeRead) {
  TempFiles dir;
  const std::string a = dir.Write(
      "a.yaml",
      "{domain: d, rules: [{name: x, unlimited: true, skips: [later]}]}");
  const std::string b = dir.Write("b.yaml", "{domain: d, rules: [");

  const LoadedRules loaded = LoadRules(dir.Path(""));

  ASSERT_EQ(loaded.errors.size(), 1U) << a;
  EXPECT_EQ(loaded.errors[0].file, b);
}

TEST(Algorithms, EachTakeTheFieldsOfTheirOwn) {
  for (const char* name :
       {"token_bucket", "fixed_window", "sliding_window", "sliding_log"}) {
    const Rule rule =
        OneRule(absl::StrCat("limit: 7/second, algorithm: ", name));
    EXPECT_EQ(rule.algorithm, FindAlgorithm(name));
    EXPECT_EQ(rule.limits[0], PerSecond(7)) << name;
  }
  EXPECT_EQ(
      OneRule("limit: 10000/second, algorithm: sliding_log").limits[0].tokens(),
      10000U);
}

TEST(LeakyBucket, HasAMaxDelayAndMayHaveABurst) {
  const Rule rule = OneRule(
      "max_delay: 2s, burst: 3, limit: 7/second, algorithm: leaky_bucket");

  EXPECT_EQ(rule.algorithm, FindAlgorithm("leaky_bucket"));
  EXPECT_EQ(rule.limits[0],
            *Limit::Create(7, absl::Seconds(1), 3)->WithHold(absl::Seconds(2)));
  EXPECT_THAT(
      OneRule("limit: [1/second, 9/day], max_delay: 1ns, algorithm: "
              "leaky_bucket")
          .limits,
      ElementsAre(
          *PerSecond(1).WithHold(absl::Nanoseconds(1)),
          *Limit::Create(9, absl::Hours(24))->WithHold(absl::Nanoseconds(1))));
}

TEST(Concurrency, HasSlotsThatAreHeldForATime) {
  const Rule rule = OneRule("limit: 2, algorithm: concurrency, slot_ttl: 30s");

  EXPECT_EQ(rule.algorithm, FindAlgorithm("concurrency"));
  EXPECT_EQ(rule.limits[0], *Limit::Create(2, absl::Seconds(30)));
  EXPECT_EQ(OneRule("limit: 10000, algorithm: concurrency, slot_ttl: 3650d")
                .limits[0]
                .tokens(),
            10000U);
  EXPECT_THAT(OneRule("tier: {entry: plan, limits: {free: 1, paid: 9}}, "
                      "algorithm: concurrency, slot_ttl: 1s")
                  .tier->limits,
              ElementsAre(Pair("free", ElementsAre(PerSecond(1))),
                          Pair("paid", ElementsAre(PerSecond(9)))));
}

std::string HashOf(const std::string& fields) {
  const LoadedRules loaded = ParseRules(
      absl::StrCat("{domain: d, rules: [{name: a, ", fields,
                   "}, {name: b, limit: 1/day}, {name: c, limit: 1/day}]}"),
      "r");
  EXPECT_THAT(ToStatus(loaded.errors), IsOk()) << fields;
  return loaded.hash;
}

TEST(Hash, ChangesWithEveryPolicy) {
  std::vector<std::string> hashes;
  for (const char* fields : {
           "limit: 1/second",
           "limit: 1/second, algorithm: fixed_window",
           "limit: 1/second, algorithm: leaky_bucket, max_delay: 1s",
           "limit: 1/second, algorithm: leaky_bucket, max_delay: 2s",
           "limit: 1, algorithm: concurrency, slot_ttl: 1s",
           "limit: 1, algorithm: concurrency, slot_ttl: 2s",
           "limit: 1/second, match: {u: [a, b]}",
           "limit: 1/second, match: {u: [a, 'b*']}",
           "limit: 1/second, key: [ip]",
           "limit: 1/second, key: [{entry: ip, prefix: {}}]",
           "limit: 1/second, key: [{entry: ip, prefix: {v4: 24}}]",
           "limit: 1/second, key: [{entry: ip, prefix: {v6: 56}}]",
           "limit: 1/second, key: [{entry: ip, prefix: {}}, u]",
           "limit: 1/second, key: [[{entry: ip, prefix: {}}, u]]",
           "tier: {entry: p, limits: {a: 1/second}}",
           "tier: {entry: q, limits: {a: 1/second}}",
           "tier: {entry: p, limits: {a: 2/second}}",
           "tier: {entry: p, limits: {b: 1/second}}",
           "tier: {entry: p, limits: {a: 1/second}, default: a}",
           "tier: {entry: p, limits: {a: 1/second, b: 1/second}}",
           "limit: 1/second, penalty: {after: 1/second, block: 1s}",
           "limit: 1/second, penalty: {after: 2/second, block: 1s}",
           "limit: 1/second, penalty: {after: 1/second, block: 2s}",
           "limit: 1/second, reserve: {entry: p, shares: {a: 1%}}",
           "limit: 1/second, reserve: {entry: q, shares: {a: 1%}}",
           "limit: 1/second, reserve: {entry: p, shares: {a: 2%}}",
           "limit: 1/second, reserve: {entry: p, shares: {b: 1%}}",
           "limit: 1/second, reserve: {entry: p, shares: {a: 1%}, default: a}",
           "limit: 1/second, mode: {enforce: 99%}",
           "limit: 1/second, overflow_share: 99%",
           "limit: 1/second, on_outage: allow",
           "limit: 1/second, on_outage: refuse",
           "unlimited: true",
           "unlimited: true, skips: [b]",
           "unlimited: true, skips: [b, c]",
       }) {
    const std::string hash = HashOf(fields);
    EXPECT_THAT(hashes, testing::Not(testing::Contains(hash))) << fields;
    hashes.push_back(hash);
  }
}

TEST(Hash, IsTheSameForWhatMeansTheSame) {
  const std::vector<std::pair<std::string, std::string>> same = {
      {"limit: 1/second, match: {u: [a, b], v: c}",
       "limit: 1/second, match: {v: [c], u: [b, a]}"},
      {"limit: 1/second, key: [a | b]", "limit: 1/second, key: [[a, b]]"},
      {"limit: 1/second, key: [{entry: a, prefix: {}}]",
       "limit: 1/second, key: [{entry: a, prefix: {v4: 32, v6: 64}}]"},
      {"tier: {entry: p, limits: {a: 1/second, b: 2/second}}",
       "tier: {limits: {b: [2/1s], a: 1/second}, entry: p}"},
      {"limit: 1/second, reserve: {entry: p, shares: {a: 1%, b: 2%}}",
       "limit: 1/second, reserve: {shares: {b: 02%, a: 1%}, entry: p}"},
      {"limit: 1/second",
       "limit: 1/second, mode: {enforce: 100%}, on_outage: backstop, "
       "unlimited: false"},
      {"unlimited: true, skips: [b, c]", "unlimited: true, skips: [c, b]"},
  };
  for (const auto& [one, other] : same) {
    EXPECT_EQ(HashOf(one), HashOf(other)) << one << "\n" << other;
  }
}

}  // namespace
}  // namespace tollgate
