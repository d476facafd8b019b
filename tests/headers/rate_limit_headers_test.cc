#include "server/headers/rate_limit_headers.h"

#include <limits>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/limiter/algorithm.h"
#include "server/limiter/limit.h"
#include "tests/support/status_matchers.h"

namespace tollgate {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

constexpr int64_t kMs = 1'000'000;
constexpr int64_t kSecond = 1000 * kMs;

Quota PerMinute(absl::string_view name, uint64_t tokens, uint64_t remaining,
                int64_t reset_after_ns) {
  Quota quota;
  quota.name = name;
  quota.tokens = tokens;
  quota.period_ns = 60 * kSecond;
  quota.burst = tokens;
  quota.remaining = remaining;
  quota.reset_after_ns = reset_after_ns;
  return quota;
}

Quota Refusing(Quota quota, int64_t retry_after_ns) {
  quota.outcome = Outcome::kRefused;
  quota.retry_after_ns = retry_after_ns;
  return quota;
}

Quota Impossible(Quota quota) {
  quota.outcome = Outcome::kImpossible;
  return quota;
}

std::map<std::string, std::string> Headers(HeaderProfile profile,
                                           std::vector<Quota> quotas) {
  std::map<std::string, std::string> headers;
  for (const HeaderField& field : RateLimitHeaders(profile, quotas)) {
    EXPECT_TRUE(headers.emplace(field.name, field.value).second) << field.name;
  }
  return headers;
}

TEST(HeaderProfile, HasThreeNames) {
  EXPECT_EQ(ParseHeaderProfile("none").value(), HeaderProfile::kNone);
  EXPECT_EQ(ParseHeaderProfile("legacy").value(), HeaderProfile::kLegacy);
  EXPECT_EQ(ParseHeaderProfile("draft10").value(), HeaderProfile::kDraft10);
  for (const char* name : {"", "None", "draft-10", "ietf"}) {
    EXPECT_THAT(ParseHeaderProfile(name),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("want legacy, draft10 or none")));
  }
}

TEST(WholeSeconds, AreRoundedUp) {
  EXPECT_EQ(WholeSeconds(0), 0U);
  EXPECT_EQ(WholeSeconds(-1), 0U);
  EXPECT_EQ(WholeSeconds(std::numeric_limits<int64_t>::min()), 0U);
  EXPECT_EQ(WholeSeconds(1), 1U);
  EXPECT_EQ(WholeSeconds(500 * kMs), 1U);
  EXPECT_EQ(WholeSeconds(kSecond - 1), 1U);
  EXPECT_EQ(WholeSeconds(kSecond), 1U);
  EXPECT_EQ(WholeSeconds(kSecond + 1), 2U);
  EXPECT_EQ(WholeSeconds(2 * kSecond), 2U);
  EXPECT_EQ(WholeSeconds(std::numeric_limits<int64_t>::max()), 9'223'372'037U);
}

TEST(RateLimitHeaders, OfTheProfileNoneAreNone) {
  EXPECT_THAT(Headers(HeaderProfile::kNone,
                      {Refusing(PerMinute("a", 1, 0, kSecond), kSecond)}),
              IsEmpty());
}

TEST(RateLimitHeaders, OfNoQuotaAreNone) {
  EXPECT_THAT(Headers(HeaderProfile::kLegacy, {}), IsEmpty());
  EXPECT_THAT(Headers(HeaderProfile::kDraft10, {}), IsEmpty());
}

TEST(LegacyHeaders, TellTheLimitWhatRemainsAndTheSecondsUntilItIsFull) {
  EXPECT_THAT(RateLimitHeaders(HeaderProfile::kLegacy,
                               {PerMinute("per-user", 100, 40, 36 * kSecond)}),
              ElementsAre(HeaderField{"X-RateLimit-Limit", "100"},
                          HeaderField{"X-RateLimit-Remaining", "40"},
                          HeaderField{"X-RateLimit-Reset", "36"}));
}

TEST(LegacyHeaders, RoundTheResetUp) {
  const auto reset = [](int64_t ns) {
    return Headers(HeaderProfile::kLegacy, {PerMinute("a", 9, 1, ns)})
        .at("X-RateLimit-Reset");
  };
  EXPECT_EQ(reset(0), "0");
  EXPECT_EQ(reset(1), "1");
  EXPECT_EQ(reset(36 * kSecond), "36");
  EXPECT_EQ(reset(36 * kSecond + 1), "37");
}

TEST(LegacyHeaders, TellOfTheLeastRemainingTheFirstOfEquals) {
  EXPECT_THAT(
      Headers(HeaderProfile::kLegacy, {PerMinute("a", 100, 41, kSecond),
                                       PerMinute("b", 50, 40, 2 * kSecond),
                                       PerMinute("c", 60, 40, 3 * kSecond)})
          .at("X-RateLimit-Limit"),
      "50");
}

TEST(LegacyHeaders, TellOfTheLastThatRefuses) {
  const Quota refusing =
      Refusing(PerMinute("b", 50, 3, 57 * kSecond), 2 * kSecond);
  const Quota last = Refusing(PerMinute("c", 60, 4, 56 * kSecond), kSecond);
  const auto headers = Headers(HeaderProfile::kLegacy,
                               {PerMinute("a", 100, 0, kSecond), refusing, last,
                                PerMinute("d", 100, 0, kSecond)});
  EXPECT_EQ(headers.at("X-RateLimit-Limit"), "60");
  EXPECT_EQ(headers.at("X-RateLimit-Remaining"), "4");
  // All that refuse are waited for, whichever is told of.
  EXPECT_EQ(headers.at("Retry-After"), "2");
}

TEST(LegacyHeaders, NeverTellOfMoreThanTheLimit) {
  Quota bursting = PerMinute("per-user", 10, 20, 0);
  bursting.burst = 20;
  const auto headers = Headers(HeaderProfile::kLegacy, {bursting});
  EXPECT_EQ(headers.at("X-RateLimit-Limit"), "20");
  EXPECT_EQ(headers.at("X-RateLimit-Remaining"), "20");
}

TEST(Draft10Headers, AreThePublishedExample) {
  Quota daily = PerMinute("daily", 1000, 999, 87 * kSecond);
  daily.period_ns = 86'400 * kSecond;
  EXPECT_THAT(
      RateLimitHeaders(HeaderProfile::kDraft10,
                       {PerMinute("per-user", 100, 40, 12 * kSecond), daily}),
      ElementsAre(
          HeaderField{"RateLimit-Policy",
                      R"("per-user";q=100;w=60, "daily";q=1000;w=86400)"},
          HeaderField{"RateLimit",
                      R"("per-user";r=40;t=12, "daily";r=999;t=87)"}));
}

TEST(Draft10Headers, TellOfARefusalByThoseThatRefuse) {
  const auto headers =
      Headers(HeaderProfile::kDraft10,
              {PerMinute("a", 100, 40, 36 * kSecond),
               Refusing(PerMinute("b", 5, 0, 60 * kSecond), 11 * kSecond + 1),
               Refusing(PerMinute("c", 6, 2, 40 * kSecond), 500 * kMs)});
  EXPECT_EQ(headers.at("RateLimit-Policy"),
            R"("a";q=100;w=60, "b";q=5;w=60, "c";q=6;w=60)");
  EXPECT_EQ(headers.at("RateLimit"), R"("b";r=0;t=12, "c";r=2;t=1)");
  EXPECT_EQ(headers.at("Retry-After"), "12");
}

TEST(Draft10Headers, PromiseNothingWhereWaitingNeverHelps) {
  const auto headers =
      Headers(HeaderProfile::kDraft10,
              {Refusing(PerMinute("a", 5, 0, 60 * kSecond), kSecond),
               Impossible(PerMinute("b", 2, 2, 0))});
  EXPECT_EQ(headers.at("RateLimit"), R"("a";r=0;t=1, "b";r=2)");
  EXPECT_EQ(headers.count("Retry-After"), 0U);
  EXPECT_EQ(
      Headers(HeaderProfile::kLegacy, {Impossible(PerMinute("b", 2, 2, 0))})
          .count("Retry-After"),
      0U);
}

TEST(Draft10Headers, TellABurstOverTheTimeInWhichItFills) {
  Quota quota = PerMinute("a", 10, 15, 0);
  quota.burst = 20;
  quota.period_ns = kSecond;
  const auto policy = [&] {
    return Headers(HeaderProfile::kDraft10, {quota}).at("RateLimit-Policy");
  };
  EXPECT_EQ(policy(), R"("a";q=20;w=2)");
  quota.burst = 21;  // 2.1 s
  EXPECT_EQ(policy(), R"("a";q=21;w=3)");
  quota.burst = 5;  // 0.5 s: a window is never 0
  EXPECT_EQ(policy(), R"("a";q=5;w=1)");
  quota.burst = 0;  // refuses everything
  quota.period_ns = 60 * kSecond;
  EXPECT_EQ(policy(), R"("a";q=0;w=60)");
}

TEST(Draft10Headers, RoundTheWindowUpAtANanosecond) {
  Quota quota = PerMinute("a", 1, 0, 0);
  const auto window = [&](int64_t period_ns) {
    quota.period_ns = period_ns;
    return Headers(HeaderProfile::kDraft10, {quota}).at("RateLimit-Policy");
  };
  EXPECT_EQ(window(1), R"("a";q=1;w=1)");
  EXPECT_EQ(window(kSecond), R"("a";q=1;w=1)");
  EXPECT_EQ(window(kSecond + 1), R"("a";q=1;w=2)");
  EXPECT_EQ(window(2 * kSecond), R"("a";q=1;w=2)");
}

TEST(Draft10Headers, NameTheLimitsOfOneRuleApart) {
  Quota daily = PerMinute("per-client", 10'000, 9'000, kSecond);
  daily.period_ns = 86'400 * kSecond;
  const auto headers =
      Headers(HeaderProfile::kDraft10,
              {PerMinute("per-client", 50, 40, kSecond), daily});
  EXPECT_EQ(headers.at("RateLimit-Policy"),
            R"("per-client 50/60s";q=50;w=60, )"
            R"("per-client 10000/86400s";q=10000;w=86400)");
  EXPECT_EQ(headers.at("RateLimit"), R"("per-client 50/60s";r=40;t=1, )"
                                     R"("per-client 10000/86400s";r=9000;t=1)");
}

TEST(Draft10Headers, NameTheLimitsOfALongNameApart) {
  const std::string name(200, '"');
  Quota daily = PerMinute(name, 10'000, 9'000, kSecond);
  daily.period_ns = 86'400 * kSecond;
  const std::string policies =
      Headers(HeaderProfile::kDraft10,
              {PerMinute(name, 50, 40, kSecond), daily})
          .at("RateLimit-Policy");
  EXPECT_THAT(policies, HasSubstr(R"( 50/60s";q=)"));
  EXPECT_THAT(policies, HasSubstr(R"( 10000/86400s";q=)"));
}

TEST(Draft10Headers, ListAPolicyOnceByItsTightestBucket) {
  const auto headers = Headers(HeaderProfile::kDraft10,
                               {PerMinute("per-user", 9, 7, kSecond),
                                PerMinute("per-user", 9, 3, 2 * kSecond)});
  EXPECT_EQ(headers.at("RateLimit-Policy"), R"("per-user";q=9;w=60)");
  EXPECT_EQ(headers.at("RateLimit"), R"("per-user";r=3;t=2)");
}

TEST(Draft10Headers, ListTheMostPressingOfMany) {
  std::vector<Quota> quotas;
  std::vector<std::string> names;
  for (int i = 0; i < 1000; ++i) names.push_back(absl::StrCat("rule", i));
  for (int i = 0; i < 1000; ++i) {
    quotas.push_back(PerMinute(names[i], 1000, 999 - i, kSecond));
  }
  const std::string states =
      Headers(HeaderProfile::kDraft10, quotas).at("RateLimit");
  EXPECT_THAT(states, HasSubstr("\"rule992\";r=7;t=1, "));
  EXPECT_THAT(states, HasSubstr("\"rule999\";r=0;t=1"));
  EXPECT_THAT(states, Not(HasSubstr("rule991")));

  quotas[3] = Refusing(quotas[3], 5 * kSecond);
  const auto refused = Headers(HeaderProfile::kDraft10, quotas);
  EXPECT_EQ(refused.at("RateLimit"), R"("rule3";r=996;t=5)");
  EXPECT_THAT(refused.at("RateLimit-Policy"),
              Not(HasSubstr("rule992")));  // its place is taken
}

TEST(Draft10Headers, FitInAProxysBufferWhateverTheyTell) {
  const std::string name(300, '\xFF');
  std::vector<Quota> quotas;
  for (uint64_t i = 0; i < 1000; ++i) {
    Quota quota = PerMinute(name, 1, 0, std::numeric_limits<int64_t>::max());
    quota.burst = std::numeric_limits<uint64_t>::max() - i;
    quota.remaining = quota.burst;
    quota.period_ns = std::numeric_limits<int64_t>::max();
    quotas.push_back(quota);
  }
  size_t bytes = 0;
  for (const HeaderField& field :
       RateLimitHeaders(HeaderProfile::kDraft10, quotas)) {
    bytes += field.name.size() + field.value.size() + 4;
  }
  EXPECT_LE(bytes, 4096U);
}

TEST(Draft10Headers, KeepToIntegersOfFifteenDigits) {
  Quota quota = PerMinute("a", 1, std::numeric_limits<uint64_t>::max(), 0);
  quota.burst = std::numeric_limits<uint64_t>::max();
  const auto headers = Headers(HeaderProfile::kDraft10, {quota});
  EXPECT_EQ(headers.at("RateLimit-Policy"),
            R"("a";q=999999999999999;w=999999999999999)");
  EXPECT_EQ(headers.at("RateLimit"), R"("a";r=999999999999999;t=0)");
}

TEST(Draft10Headers, SurviveAQuotaOfNonsense) {
  Quota quota;
  quota.tokens = 0;
  quota.burst = 0;
  quota.period_ns = -1;
  EXPECT_EQ(Headers(HeaderProfile::kDraft10, {quota}).at("RateLimit-Policy"),
            R"("";q=0;w=1)");
}

TEST(StructuredString, EscapesWhatAStringMayNotHold) {
  EXPECT_EQ(StructuredString("per-user"), R"("per-user")");
  EXPECT_EQ(StructuredString(R"(a"b\c)"), R"("a\"b\\c")");
  EXPECT_EQ(StructuredString("a b~"), R"("a b~")");
  EXPECT_EQ(StructuredString("100%"), R"("100%25")");
  EXPECT_EQ(StructuredString("caf\xC3\xA9"), R"("caf%C3%A9")");
  EXPECT_EQ(StructuredString("a\r\nb\x7F"), R"("a%0D%0Ab%7F")");
  EXPECT_EQ(StructuredString(absl::string_view("\0", 1)), R"("%00")");
  EXPECT_EQ(StructuredString(""), R"("")");
}

TEST(StructuredString, IsCutBetweenEscapes) {
  EXPECT_EQ(StructuredString(std::string(128, 'a')),
            absl::StrCat("\"", std::string(128, 'a'), "\""));
  EXPECT_EQ(StructuredString(std::string(129, 'a')),
            absl::StrCat("\"", std::string(128, 'a'), "\""));
  EXPECT_EQ(StructuredString(std::string(127, 'a') + "\"b"),
            absl::StrCat("\"", std::string(127, 'a'), "\""));
}

struct Wait {
  uint64_t tokens;
  int64_t period_ms;
  int64_t asked_again_ms;
  const char* retry_after;
};

class RetryAfter : public ::testing::TestWithParam<Wait> {};

TEST_P(RetryAfter, IsTheShortestWholeWaitThatSucceeds) {
  const Wait& wait = GetParam();
  const Limit limit =
      Limit::Create(wait.tokens, absl::Milliseconds(wait.period_ms)).value();
  const Algorithm& bucket = *FindAlgorithm("token_bucket");
  const int64_t start_ns = 1000 * kSecond;
  const int64_t refused_ns = start_ns + wait.asked_again_ms * kMs;
  BucketState state;
  ASSERT_TRUE(
      bucket.Take(state, limit, {.cost = wait.tokens}, start_ns).allowed);
  const Verdict refused = bucket.Take(state, limit, {}, refused_ns);
  ASSERT_FALSE(refused.allowed);

  const auto headers =
      Headers(HeaderProfile::kLegacy,
              {Refusing(PerMinute("a", 1, 0, 0), refused.retry_after_ns)});
  ASSERT_EQ(headers.at("Retry-After"), wait.retry_after);
  const int64_t waited_ns = std::stoll(wait.retry_after) * kSecond;
  EXPECT_TRUE(bucket.Peek(state, limit, {}, refused_ns + waited_ns).allowed);
  EXPECT_FALSE(
      bucket.Peek(state, limit, {}, refused_ns + waited_ns - kSecond).allowed);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, RetryAfter,
    ::testing::Values(Wait{1, 600, 100, "1"}, Wait{1, 2000, 0, "2"},
                      Wait{1, 2000, 999, "2"}, Wait{1, 2000, 1000, "1"},
                      Wait{1, 2000, 1999, "1"}, Wait{3, 10'000, 0, "4"},
                      Wait{1, 60'000, 0, "60"}, Wait{1, 60'000, 59'999, "1"}));

}  // namespace
}  // namespace tollgate
