#include "server/envoy/envoy_json.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/envoy/gateway.h"
#include "tests/limiter/nodes.h"
#include "tests/support/status_matchers.h"

namespace tollgate {
namespace {

using ::testing::HasSubstr;

struct Asked {
  Gateway gateway{{NodeAt({{"a", "", false}}, {Written(10)})}};

  absl::StatusOr<EnvoyJsonAnswer> Ask(const std::string& body) {
    return AtOnce<absl::StatusOr<EnvoyJsonAnswer>>([&](auto done) {
      ShouldRateLimitJson(gateway.limiter, gateway.store, gateway.options, body,
                          done);
    });
  }
};

TEST(EnvoyJson, AnswersInLowerCamelCaseWithoutZeroFields) {
  Asked asked;
  const auto answer = asked.Ask(
      R"({"domain":"shop","descriptors":[{"entries":[{"key":"a","value":"1"}]}]})");
  ASSERT_THAT(answer, IsOk());
  EXPECT_FALSE(answer->over_limit);
  EXPECT_EQ(answer->json,
            R"({"overallCode":"OK","statuses":[{"code":"OK","currentLimit":)"
            R"({"requestsPerUnit":10,"unit":"MINUTE"},"limitRemaining":9,)"
            R"("durationUntilReset":"6s"}]})");
}

TEST(EnvoyJson, SaysThatItIsOverTheLimit) {
  Asked asked;
  const auto answer = asked.Ask(
      R"({"domain":"shop","descriptors":[{"entries":[{"key":"a","value":"1"}]}],"hitsAddend":11})");
  ASSERT_THAT(answer, IsOk());
  EXPECT_TRUE(answer->over_limit);
  EXPECT_THAT(answer->json, HasSubstr(R"("overallCode":"OVER_LIMIT")"));
}

TEST(EnvoyJson, ReadsNamesInBothStylesAndNumbersAsText) {
  for (const char* hits :
       {R"("hits_addend":3)", R"("hitsAddend":3)", R"("hitsAddend":"3")"}) {
    for (const char* own :
         {R"("hits_addend":"2")", R"("hitsAddend":2)", R"("hitsAddend":"2")"}) {
      Asked asked;
      const auto answer = asked.Ask(absl::StrCat(
          R"({"domain":"shop",)", hits,
          R"(,"descriptors":[{"entries":[{"key":"a","value":"1"}]},)"
          R"({"entries":[{"key":"a","value":"2"}],)",
          own, "}]}"));
      ASSERT_THAT(answer, IsOk()) << hits << own;
      EXPECT_THAT(answer->json, HasSubstr(R"("limitRemaining":7)"));
      EXPECT_THAT(answer->json, HasSubstr(R"("limitRemaining":8)"));
    }
  }
}

TEST(EnvoyJson, SaysWhatIsWrong) {
  Asked asked;
  EXPECT_THAT(asked.Ask(""),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("no RateLimitRequest in JSON")));
  EXPECT_THAT(asked.Ask("[1]"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("JSON")));
  EXPECT_THAT(asked.Ask(R"({"domain":"shop","nope":1})"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("nope")));
  EXPECT_THAT(asked.Ask(R"({"descriptors":[{}]})"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "rate limit domain must not be empty"));
  EXPECT_THAT(asked.Ask("{\"domain\":\"\xFF\",\"descriptors\":[{}]}"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("")));
}

TEST(EnvoyJson, SurvivesWhatNestsWithoutEnd) {
  Asked asked;
  EXPECT_THAT(asked.Ask(std::string(60'000, '[')),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("JSON")));
  std::string nested;
  for (int i = 0; i < 6000; ++i) nested += R"({"quota":)";
  EXPECT_THAT(asked.Ask(nested),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("JSON")));
}

}  // namespace
}  // namespace tollgate
