#include "server/http/check_route.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/base/clock.h"
#include "server/limiter/limiter.h"
#include "server/limiter/memory_store.h"
#include "tests/support/at_once.h"

namespace tollgate {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Rule KeyedBy(const char* name, const char* entry, uint64_t tokens,
             Mode mode = Mode::kEnforce) {
  Rule rule;
  rule.domain = "shop";
  rule.name = name;
  rule.key = {KeyPart{{KeySource{entry, {}}}}};
  rule.limits = {Limit::Create(tokens, absl::Minutes(1)).value()};
  rule.algorithm = FindAlgorithm("token_bucket");
  rule.mode = mode;
  return rule;
}

struct Asked {
  FakeClock clock{1'000'000'000'000};
  Limiter limiter{clock};
  MemoryStore store{limiter};

  Asked() {
    RuleSet rules =
        RuleSet::Create({KeyedBy("per-user", "user", 2),
                         KeyedBy("per-domain", "domain", 5),
                         KeyedBy("dotted", ".domain", 7),
                         KeyedBy("trial", "user", 1, Mode::kShadow)})
            .value();
    EXPECT_TRUE(limiter.SetRules(std::move(rules)).ok());
  }
  HttpAnswer Ask(const std::string& query,
                 HeaderProfile profile = HeaderProfile::kLegacy) {
    return AtOnce<HttpAnswer>(
        [&](auto done) { Check(store, profile, query, done); });
  }
};

TEST(Check, AllowsThenRefusesWithTheHeaders) {
  Asked asked;
  HttpAnswer answer = asked.Ask(".domain=shop&user=ana");
  EXPECT_EQ(answer.code, 200);
  EXPECT_EQ(answer.body, "allowed\n");
  EXPECT_THAT(answer.headers,
              ElementsAre(HeaderField{"X-RateLimit-Limit", "2"},
                          HeaderField{"X-RateLimit-Remaining", "1"},
                          HeaderField{"X-RateLimit-Reset", "30"}));
  EXPECT_EQ(asked.Ask(".domain=shop&user=ana").code, 200);

  answer = asked.Ask(".domain=shop&user=ana");
  EXPECT_EQ(answer.code, 429);
  EXPECT_EQ(answer.body, "refused: per-user\n");
  EXPECT_THAT(answer.headers,
              ElementsAre(HeaderField{"X-RateLimit-Limit", "2"},
                          HeaderField{"X-RateLimit-Remaining", "0"},
                          HeaderField{"X-RateLimit-Reset", "60"},
                          HeaderField{"Retry-After", "30"}));
  EXPECT_EQ(asked.Ask(".domain=shop&user=bob").code, 200);
  asked.clock.Advance(30'000'000'000);
  EXPECT_EQ(asked.Ask(".domain=shop&user=ana").code, 200);
}

TEST(Check, TakesACostAndPeeksWithNone) {
  Asked asked;
  EXPECT_EQ(asked.Ask(".cost=0&.domain=shop&user=ana").code, 200);
  EXPECT_EQ(asked.Ask(".domain=shop&.cost=2&user=ana").code, 200);
  EXPECT_EQ(asked.Ask(".domain=shop&.cost=0&user=ana").code, 429);
  const HttpAnswer answer = asked.Ask(".domain=shop&.cost=3&user=bob");
  EXPECT_EQ(answer.code, 429);
  EXPECT_EQ(answer.body, "impossible: per-user\n");
}

TEST(Check, HasEntriesOfAnyKey) {
  Asked asked;
  EXPECT_EQ(asked.Ask(".domain=shop&domain=x").headers[0].value, "5");
  EXPECT_EQ(asked.Ask(".domain=shop&..domain=x").headers[0].value, "7");
  EXPECT_THAT(asked.Ask(".domain=shop&cost=x").headers, IsEmpty());
}

TEST(Check, SeesTheFirstOfTwoEntriesWithOneKey) {
  Asked asked;
  EXPECT_EQ(asked.Ask(".domain=shop&.cost=2&user=ana&user=bob").code, 200);
  EXPECT_EQ(asked.Ask(".domain=shop&user=ana").code, 429);
  EXPECT_EQ(asked.Ask(".domain=shop&user=bob").code, 200);
}

TEST(Check, DecodesValues) {
  Asked asked;
  EXPECT_EQ(asked.Ask(".domain=shop&.cost=2&user=a%26b").code, 200);
  EXPECT_EQ(asked.Ask(".domain=sh%6Fp&%75ser=a%26b").code, 429);
}

TEST(Check, AllowsWhatNoRuleIsFor) {
  Asked asked;
  const HttpAnswer answer = asked.Ask(".domain=other&user=ana");
  EXPECT_EQ(answer.code, 200);
  EXPECT_THAT(answer.headers, IsEmpty());
}

struct Bad {
  const char* query;
  const char* reason;
};

class BadCheck : public ::testing::TestWithParam<Bad> {};

TEST_P(BadCheck, SaysWhatIsWrong) {
  Asked asked;
  const HttpAnswer answer = asked.Ask(GetParam().query);
  EXPECT_EQ(answer.code, 400) << GetParam().query;
  EXPECT_THAT(answer.body, HasSubstr(GetParam().reason)) << GetParam().query;
}

INSTANTIATE_TEST_SUITE_P(
    All, BadCheck,
    ::testing::Values(
        Bad{"", ".domain: missing"}, Bad{"user=ana", ".domain: missing"},
        Bad{".domain=&user=ana", "domain"},
        Bad{".domain=shop", "descriptors[0].entries"},
        Bad{".domain=shop&=ana", "descriptors[0].entries[0].key"},
        Bad{".domain=shop&user=%FF", "descriptors[0].entries[0].value"},
        Bad{".domain=shop&user=%f", "parameter 2: got a %"},
        Bad{".domain=shop&.cost=x&user=ana", ".cost: not a whole number"},
        Bad{".domain=shop&.cost=-1&user=ana", ".cost: not a whole number"},
        Bad{".domain=shop&.cost=4294967296&user=ana", "cost: got 4294967296"},
        Bad{".domain=shop&.domain=shop&user=a", ".domain: given twice"},
        Bad{".cost=1&.cost=0&.domain=shop&user=a", ".cost: given twice"},
        Bad{".domain=shop&.other=1&user=a", "written with two"},
        Bad{".domain=shop&.=1&user=a", "written with two"},
        // What a client may try through a value that its proxy pastes in.
        Bad{".domain=shop&user=ana&.cost=0", ".cost: comes after an entry"},
        Bad{".domain=shop&user=ana&.domain=other",
            ".domain: comes after an entry"}));

}  // namespace
}  // namespace tollgate
