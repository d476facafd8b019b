#include "server/rules/limit_text.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace tollgate {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kDay = 86'400 * kSecond;

TEST(ParseLimit, ReadsEveryUnitAndTheSumsOfThem) {
  struct Case {
    std::string text;
    uint32_t tokens;
    int64_t period_ns;
  };
  const std::vector<Case> cases = {
      {"10/second", 10, kSecond},
      {"5/minute", 5, 60 * kSecond},
      {"7/hour", 7, 3600 * kSecond},
      {"10000/day", 10000, kDay},
      {"3/week", 3, 7 * kDay},
      {"3/month", 3, 30 * kDay},
      {"3/year", 3, 365 * kDay},
      {"100/5m", 100, 300 * kSecond},
      {"1/600ms", 1, 600'000'000},
      {"60/30s", 60, 30 * kSecond},
      {"1/1ns", 1, 1},
      {"1/2us", 1, 2000},
      {"1/3h", 1, 3 * 3600 * kSecond},
      {"1/4d", 1, 4 * kDay},
      {"1/2w", 1, 14 * kDay},
      {"1/2week", 1, 14 * kDay},
      {"1/3month", 1, 90 * kDay},
      {"1/1h30m", 1, 5400 * kSecond},
      {"1/1d1ns", 1, kDay + 1},
      {"1/0d1ns", 1, 1},
      {" 10 / second ", 10, kSecond},
      {"10 /5m", 10, 300 * kSecond},
      {"010/second", 10, kSecond},
  };
  for (const Case& c : cases) {
    const absl::StatusOr<Limit> limit = ParseLimit(c.text);
    ASSERT_THAT(limit, IsOk()) << c.text;
    EXPECT_EQ(limit->tokens(), c.tokens) << c.text;
    EXPECT_EQ(limit->burst(), c.tokens) << c.text;
    EXPECT_EQ(limit->period_ns(), c.period_ns) << c.text;
  }
}

TEST(ParseLimit, KnowsBothSidesOfEachBoundary) {
  for (const char* good : {"1/second", "4294967295/second", "1/1ns", "1/3650d",
                           "1/10year", "1/521w3d"}) {
    EXPECT_THAT(ParseLimit(good), IsOk()) << good;
  }
  for (const char* bad : {"0/second", "4294967296/second", "1/0ns",
                          "1/3650d1ns", "1/11year", "1/521w4d"}) {
    EXPECT_THAT(ParseLimit(bad),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         testing::StartsWith("got \"" + std::string(bad))))
        << bad;
  }
}

TEST(ParseLimit, SaysGotAndWantForWhateverElse) {
  for (const char* bad : {"",
                          "/",
                          "//",
                          "1",
                          "second",
                          "1/",
                          "/s",
                          "+1/second",
                          "0x10/second",
                          "1,000/second",
                          "1_000/second",
                          "10 000/second",
                          "1/-5m",
                          "1/+5m",
                          "1/.5s",
                          "1/5",
                          "1/5m5",
                          "1/m5",
                          "1/s",
                          "1/M",
                          "1/5M",
                          "1/5mo",
                          "1/second/2",
                          "1/seconds",
                          "1/day day",
                          "1/second5",
                          "1 per second",
                          "\xE2\x88\x9E/second"}) {
    EXPECT_THAT(ParseLimit(bad),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         testing::AllOf(testing::StartsWith("got \""),
                                        testing::HasSubstr("\", want "))))
        << bad;
  }
}

}  // namespace
}  // namespace tollgate
