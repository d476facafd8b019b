// Which node, and which bucket, a descriptor finds.
#include <cstdint>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/base/clock.h"
#include "tests/limiter/nodes.h"

namespace tollgate {
namespace {

using ::testing::SizeIs;

class DescriptorMatch : public ::testing::Test {
 protected:
  FakeClock clock_{kStart};
  Limiter limiter_{clock_};
};

TEST_F(DescriptorMatch, AWalkTakesExactThenTheFirstWildcardThenTheKeyAlone) {
  SetRules(limiter_, {NodeAt({{"path", ""}}, {Written(100)}),
                      NodeAt({{"path", "/api/*"}}, {Written(2)}),
                      NodeAt({{"path", "/api/v1/*"}}, {Written(1)}),
                      NodeAt({{"path", "/api/v1/ping"}}, {Written(3)}),
                      NodeAt({{"host", "*.example.com"}}, {Written(1)}),
                      NodeAt({{"t", "x"}, {"path", "/n/*"}}, {Written(1)})});
  const auto per_unit = [&](const std::vector<Entry>& entries) -> uint64_t {
    const Decision decision = AskFor(limiter_, entries);
    if (decision.statuses.empty()) return 0;
    return ToEnvoyLimit(decision.statuses[0]).requests_per_unit;
  };
  EXPECT_EQ(per_unit({{"path", "/api/v1/ping"}}), 3u);
  EXPECT_EQ(per_unit({{"path", "/api/v1/zz"}}), 2u);
  EXPECT_EQ(per_unit({{"path", "/other"}}), 100u);
  EXPECT_EQ(per_unit({{"host", "a.example.com"}}), 1u);
  EXPECT_EQ(per_unit({{"host", "example.com"}}), 0u);
  EXPECT_EQ(per_unit({{"t", "x"}, {"path", "/n/1"}}), 1u);
  EXPECT_EQ(per_unit({{"t", "x"}, {"path", "/m/1"}}), 0u);
  EXPECT_EQ(per_unit({{"t", "x"}}), 0u);
  EXPECT_TRUE(AskFor(limiter_, {{"host", "b.example.com"}}).allowed())
      << "two values of one wildcard have separate buckets";
  EXPECT_FALSE(AskFor(limiter_, {{"host", "a.example.com"}}).allowed());
}

struct MatchCase {
  const char* sentence;
  std::vector<std::vector<NodeStep>> paths;  // number i allows i + 1 a minute
  std::vector<Entry> asked;
  uint64_t per_unit;  // 0: no limit
};

TEST_F(DescriptorMatch, MatchAsTheFormatSays) {
  const std::vector<MatchCase> cases = {
      {"depth must match exactly: two entries, path of one",
       {{{"a", "x"}}},
       {{"a", "x"}, {"b", "y"}},
       0},
      {"depth must match exactly: one entry, path of two",
       {{{"a", "x"}, {"b", "y"}}},
       {{"a", "x"}},
       0},
      {"order of entries is that of the path",
       {{{"a", "x"}, {"b", "y"}}},
       {{"b", "y"}, {"a", "x"}},
       0},
      {"exact beats wildcard beats key only",
       {{{"a", ""}}, {{"a", "x*"}}, {{"a", "xy"}}},
       {{"a", "xy"}},
       3},
      {"a wildcard beats key only",
       {{{"a", ""}}, {{"a", "x*"}}},
       {{"a", "xy"}},
       2},
      {"between wildcards file order, not length",
       {{{"a", "x*"}}, {{"a", "xy*"}}},
       {{"a", "xyz"}},
       1},
      {"between wildcards file order, the other way round",
       {{{"a", "xy*"}}, {{"a", "x*"}}},
       {{"a", "xyz"}},
       1},
      {"no backtracking: an exact node without that child is the end",
       {{{"a", ""}, {"b", "y"}}, {{"a", "x"}, {"c", ""}}},
       {{"a", "x"}, {"b", "y"}},
       0},
      {"no fallback to a sibling: an exact leaf is the end",
       {{{"a", ""}, {"b", "y"}}, {{"a", "x"}}},
       {{"a", "x"}, {"b", "y"}},
       0},
      {"an entry with an empty value matches a key-only node",
       {{{"a", ""}}},
       {{"a", ""}},
       1},
      {"an entry with an empty value matches a wildcard of nothing else",
       {{{"a", ""}}, {{"a", "*"}}},
       {{"a", ""}},
       2},
      {"* is zero or more characters, anywhere",
       {{{"a", "x*y*z"}}},
       {{"a", "xyz"}},
       1},
      {"middle parts leftmost first, none twice",
       {{{"a", "a*b*a"}}},
       {{"a", "aba"}},
       1},
      {"length is at least that of the parts",
       {{{"a", "ab*ba"}}},
       {{"a", "aba"}},
       0},
      {"case-sensitive", {{{"a", "X*"}}}, {{"a", "xy"}}, 0},
      {"an inner node with a limit is a rule of its own depth",
       {{{"a", "x"}}, {{"a", "x"}, {"b", "y"}}},
       {{"a", "x"}},
       1},
      {"a * in a key is a wildcard for the key alone",
       {{{"p*", ""}}},
       {{"path", "/x"}},
       1},
      {"a * in a key stands in file order with those in values",
       {{{"p*", ""}}, {{"path", "/*"}}, {{"path", ""}}},
       {{"path", "/x"}},
       1},
      {"an exact node beats a * in a key",
       {{{"p*", ""}}, {{"path", "/x"}}},
       {{"path", "/x"}},
       2},
      // Unlike envoyproxy/ratelimit: entries stay entries.
      {"key a_b is never hit by (a, b)", {{{"a_b", ""}}}, {{"a", "b"}}, 0},
      {"(a, b_c) is never hit by (a_b, c)",
       {{{"a", "b_c"}}},
       {{"a_b", "c"}},
       0},
  };
  for (const MatchCase& one : cases) {
    SCOPED_TRACE(one.sentence);
    std::vector<Rule> rules;
    for (const auto& path : one.paths) {
      rules.push_back(NodeAt(path, {Written(rules.size() + 1)}));
    }
    Limiter limiter(clock_);
    SetRules(limiter, std::move(rules));
    const Decision decision = AskFor(limiter, one.asked);
    EXPECT_TRUE(decision.allowed());
    ASSERT_THAT(decision.statuses, SizeIs(one.per_unit > 0 ? 1 : 0));
    if (one.per_unit > 0) {
      EXPECT_EQ(ToEnvoyLimit(decision.statuses[0]).requests_per_unit,
                one.per_unit);
    }
  }
}

TEST_F(DescriptorMatch, AMatchedNodeWithoutALimitIsAWhitelist) {
  SetRules(limiter_,
           {NodeAt({{"a", ""}}, {Written(1)}), NodeAt({{"a", "x"}}, {})});
  for (int i = 0; i < 3; ++i) {
    const Decision decision = AskFor(limiter_, {{"a", "x"}});
    EXPECT_TRUE(decision.allowed());
    EXPECT_THAT(decision.statuses, SizeIs(0));
  }
}

// 2.5: which requests meet in a bucket.
TEST_F(DescriptorMatch, BucketsAreOfTheValuesThatThePathLeavesOpen) {
  SetRules(limiter_, {NodeAt({{"user", ""}}, {Written(1)}),
                      NodeAt({{"path", "/a*"}}, {Written(1)}),
                      NodeAt({{"host", "*.com", /*share=*/true}}, {Written(1)}),
                      NodeAt({{"t", ""}, {"u", ""}}, {Written(1)})});
  const auto first = [&](const std::vector<Entry>& entries) {
    return AskFor(limiter_, entries).allowed();
  };
  EXPECT_TRUE(first({{"user", "ana"}}));
  EXPECT_TRUE(first({{"user", "bob"}}));
  EXPECT_FALSE(first({{"user", "ana"}}));
  EXPECT_TRUE(first({{"path", "/ab"}}));
  EXPECT_TRUE(first({{"path", "/ac"}}));
  EXPECT_FALSE(first({{"path", "/ab"}}));
  EXPECT_TRUE(first({{"host", "a.com"}}));
  EXPECT_FALSE(first({{"host", "b.com"}})) << "share_threshold";
  EXPECT_TRUE(first({{"t", "ab"}, {"u", "c"}}));
  EXPECT_TRUE(first({{"t", "a"}, {"u", "bc"}}));
  EXPECT_FALSE(first({{"t", "a"}, {"u", "bc"}}));
}

}  // namespace
}  // namespace tollgate
