#include "server/rules/rule_file.h"

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/limiter/rule_set.h"
#include "tests/rules/one_rule.h"
#include "tests/support/status_matchers.h"

namespace tollgate {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> EntriesOf(const KeyPart& part) {
  std::vector<std::string> entries;
  for (const KeySource& source : part.alternatives) {
    entries.push_back(source.entry);
  }
  return entries;
}

std::string ManyRules(size_t count, const std::string& prefix) {
  std::string yaml = "domain: shop\nrules:\n";
  for (size_t i = 0; i < count; ++i) {
    absl::StrAppend(&yaml, "- {name: ", prefix, i, ", limit: 1/day}\n");
  }
  return yaml;
}

TEST(RuleFile, GivesDefaultsToWhatIsNotSaid) {
  const Rule rule = OneRule("limit: 10/second");

  EXPECT_EQ(rule.domain, "shop");
  EXPECT_EQ(rule.name, "a");
  EXPECT_TRUE(rule.key.empty());
  EXPECT_TRUE(rule.match.empty());
  ASSERT_EQ(rule.limits.size(), 1U);
  EXPECT_EQ(rule.limits[0], *Limit::Create(10, absl::Seconds(1), 10));
  EXPECT_EQ(rule.algorithm, FindAlgorithm("token_bucket"));
  EXPECT_EQ(rule.cost, 1U);
  EXPECT_EQ(rule.mode, Mode::kEnforce);
}

TEST(RuleFile, ReadsEveryField) {
  const Rule rule = OneRule(
      "match: {endpoint: /login, user: 123, e: '', t: true, 'a: b': c}, "
      "key: [user, api_key | ip,  x|y |z ], limit: [7/minute], burst: 9, "
      "algorithm: token_bucket, cost: 10, mode: shadow");

  ASSERT_EQ(rule.match.size(), 5U);
  EXPECT_EQ(rule.match[0].key, "endpoint");
  EXPECT_THAT(rule.match[0].any_of, ElementsAre(Pattern::Exact("/login")));
  EXPECT_THAT(rule.match[1].any_of, ElementsAre(Pattern::Exact("123")));
  EXPECT_THAT(rule.match[2].any_of, ElementsAre(Pattern::Exact("")));
  EXPECT_THAT(rule.match[3].any_of, ElementsAre(Pattern::Exact("true")));
  EXPECT_EQ(rule.match[4].key, "a: b");
  ASSERT_EQ(rule.key.size(), 3U);
  EXPECT_THAT(EntriesOf(rule.key[0]), ElementsAre("user"));
  EXPECT_THAT(EntriesOf(rule.key[1]), ElementsAre("api_key", "ip"));
  EXPECT_THAT(EntriesOf(rule.key[2]), ElementsAre("x", "y", "z"));
  ASSERT_EQ(rule.limits.size(), 1U);
  EXPECT_EQ(rule.limits[0], *Limit::Create(7, absl::Minutes(1), 9));
  EXPECT_EQ(rule.cost, 10U);
  EXPECT_EQ(rule.mode, Mode::kShadow);
}

TEST(RuleFile, TakesTheLastValueInsideEachBoundary) {
  EXPECT_EQ(OneRule("limit: 1/second, burst: 1").limits[0].burst(), 1U);
  EXPECT_EQ(OneRule("burst: 4294967295, limit: 1/1ns").limits[0].burst(),
            4294967295U);
  EXPECT_EQ(OneRule("limit: 1/3650d, burst: 10").limits[0].burst(), 10U);
  EXPECT_EQ(OneRule("limit: 1/second, cost: 1").cost, 1U);
  EXPECT_EQ(OneRule("limit: 1/second, cost: '4294967295'").cost, 4294967295U);
  EXPECT_EQ(OneRule("limit: 1/second, key: [" + std::string(256, 'k') + "]")
                .key.size(),
            1U);
  EXPECT_EQ(
      OneRule("limit: 1/second, match: {e: " + std::string(4096, 'v') + "}")
          .match[0]
          .any_of[0]
          .ToString()
          .size(),
      4096U);
}

TEST(RuleFile, TakesSixteenLimitsOnOneKey) {
  std::string limits = "1/second";
  for (int i = 2; i <= 16; ++i) absl::StrAppend(&limits, ", ", i, "/day");

  const Rule rule = OneRule("limit: [" + limits + "]");

  ASSERT_EQ(rule.limits.size(), 16U);
  EXPECT_EQ(rule.limits[15].tokens(), 16U);
}

TEST(RuleFile, TakesNamesAndDomainsOfTheGreatestLength) {
  const LoadedRules loaded =
      ParseRules(absl::StrCat("{domain: ", std::string(256, 'd'),
                              ", rules: [{name: ", std::string(128, 'n'),
                              ", limit: 1/second}]}"),
                 "r");

  EXPECT_THAT(ToStatus(loaded.errors), IsOk());
}

TEST(RuleFile, ReadsModesAndQuotedOrPlainTextAlike) {
  EXPECT_EQ(OneRule("limit: 1/second, mode: enforce").mode, Mode::kEnforce);
  EXPECT_EQ(OneRule("limit: 1/second, mode: off").mode, Mode::kOff);
  EXPECT_EQ(OneRule("limit: \"1/second\", mode: 'off'").mode, Mode::kOff);
}

TEST(RuleFile, MayHaveNoRulesIfItSaysSo) {
  const LoadedRules loaded = ParseRules("domain: shop\nrules: []\n", "r");

  EXPECT_THAT(ToStatus(loaded.errors), IsOk());
  EXPECT_TRUE(loaded.rules.empty());
  EXPECT_EQ(loaded.hash.size(), 32U);
}

TEST(RuleFile, SharesAnchoredValues) {
  const LoadedRules loaded = ParseRules(
      "domain: shop\n"
      "rules:\n"
      "  - {name: a, key: &k [user], limit: 1/second}\n"
      "  - {name: b, key: *k, limit: 2/second}\n",
      "r");

  ASSERT_THAT(ToStatus(loaded.errors), IsOk());
  EXPECT_THAT(EntriesOf(loaded.rules[1].key[0]), ElementsAre("user"));
}

TEST(RuleFile, MayBeFourMebibytesLongAndNotOneByteMore) {
  std::string yaml = "domain: shop\nrules: []\n#";
  yaml.resize(kMaxRuleFileBytes, 'x');
  EXPECT_THAT(ToStatus(ParseRules(yaml, "r").errors), IsOk());

  yaml += 'x';
  EXPECT_THAT(
      ToStatus(ParseRules(yaml, "r").errors),
      StatusIs(absl::StatusCode::kInvalidArgument,
               "r: got more than 4194304 bytes, want at most those (4 MiB): "
               "split it into a directory of files"));
}

TEST(RuleFile, MayHaveAHundredThousandRulesAndNotOneMore) {
  const LoadedRules full = ParseRules(ManyRules(kMaxRulesLoaded, "r"), "r");
  ASSERT_THAT(ToStatus(full.errors), IsOk());
  EXPECT_EQ(full.rules.size(), kMaxRulesLoaded);
  EXPECT_THAT(RuleSet::Create(full.rules), IsOk());

  EXPECT_THAT(
      ToStatus(ParseRules(ManyRules(kMaxRulesLoaded + 1, "r"), "r").errors),
      StatusIs(absl::StatusCode::kInvalidArgument,
               "r:100003:3: rules[100000]: got more than 100000 rules "
               "in all files, want at most 100000"));
}

TEST(RuleFile, ListsAThousandErrorsAndCountsTheRest) {
  std::string yaml = "domain: shop\nrules: []\n";
  for (int i = 0; i < 1001; ++i) absl::StrAppend(&yaml, "x", i, ": 1\n");

  const LoadedRules loaded = ParseRules(yaml, "r");

  ASSERT_EQ(loaded.errors.size(), 1001U);
  EXPECT_THAT(loaded.errors[999].field, "x999");
  EXPECT_EQ(loaded.errors[1000].ToString(),
            "r: got 1001 errors, of which 1000 are listed, want none");
}

TEST(RuleFileHash, NamesTheMeaningAndNotTheText) {
  const std::string hash =
      ParseRules(
          "domain: shop\n"
          "rules:\n"
          "  - {name: a, limit: 60/minute, match: {x: 1, y: 2}}\n"
          "  - {name: b, limit: 1/second, burst: 1}\n",
          "one")
          .hash;

  EXPECT_THAT(hash, testing::MatchesRegex("[0-9a-f]{32}"));
  EXPECT_EQ(ParseRules("# the same\n"
                       "rules:\n"
                       "  - name: 'b'\n"
                       "    limit: 1 / 1000ms\n"
                       "    mode: enforce\n"
                       "  - name: a\n"
                       "    match: {y: 2, x: 1}\n"
                       "    limit: [60/60s]\n"
                       "    algorithm: token_bucket\n"
                       "    cost: 1\n"
                       "domain: \"shop\"\n",
                       "two")
                .hash,
            hash);
}

TEST(RuleFileHash, ChangesWithEveryField) {
  const std::vector<std::string> files = {
      "{domain: shop, rules: []}",
      "{domain: shop, rules: [{name: a, limit: 1/second}]}",
      "{domain: mall, rules: [{name: a, limit: 1/second}]}",
      "{domain: shop, rules: [{name: b, limit: 1/second}]}",
      "{domain: shop, rules: [{name: a, limit: 2/second}]}",
      "{domain: shop, rules: [{name: a, limit: 1/minute}]}",
      "{domain: shop, rules: [{name: a, limit: 1/second, burst: 2}]}",
      "{domain: shop, rules: [{name: a, limit: [1/second, 2/day]}]}",
      "{domain: shop, rules: [{name: a, limit: 1/second, cost: 2}]}",
      "{domain: shop, rules: [{name: a, limit: 1/second, mode: off}]}",
      "{domain: shop, rules: [{name: a, limit: 1/second, mode: shadow}]}",
      "{domain: shop, rules: [{name: a, limit: 1/second, key: [u]}]}",
      "{domain: shop, rules: [{name: a, limit: 1/second, key: [u, v]}]}",
      "{domain: shop, rules: [{name: a, limit: 1/second, key: [u | v]}]}",
      "{domain: shop, rules: [{name: a, limit: 1/second, match: {u: v}}]}",
  };
  std::vector<std::string> hashes;
  for (const std::string& file : files) {
    hashes.push_back(ParseRules(file, "r").hash);
    ASSERT_NE(hashes.back(), "") << file;
    for (size_t i = 0; i + 1 < hashes.size(); ++i) {
      EXPECT_NE(hashes[i], hashes.back()) << files[i] << " and " << file;
    }
  }
}

TEST(RuleFileErrors, BecomeOneStatusWithALineForEach) {
  EXPECT_THAT(ToStatus({}), IsOk());
  EXPECT_THAT(ToStatus({{"a.yaml", 3, 7, "rules[0].limit", "got 1, want 2"},
                        {"b.yaml", 0, 0, "", "got nothing, want something"}}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "a.yaml:3:7: rules[0].limit: got 1, want 2\n"
                       "b.yaml: got nothing, want something"));
}

}  // namespace
}  // namespace tollgate
