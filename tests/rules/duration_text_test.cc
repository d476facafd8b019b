#include "server/rules/duration_text.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace tollgate {
namespace {

using testing::HasSubstr;

TEST(ParseDuration, ReadsCountsOfEveryUnitAndTheSumsOfThem) {
  const std::vector<std::pair<std::string, absl::Duration>> cases = {
      {"1ns", absl::Nanoseconds(1)},      {"2us", absl::Microseconds(2)},
      {"500ms", absl::Milliseconds(500)}, {"30s", absl::Seconds(30)},
      {"10m", absl::Minutes(10)},         {"1h", absl::Hours(1)},
      {"7d", absl::Hours(168)},           {"2w", absl::Hours(336)},
      {"2week", absl::Hours(336)},        {"1h30m", absl::Minutes(90)},
      {"0s1ns", absl::Nanoseconds(1)},    {"3650d", absl::Hours(87600)},
      {"10year", absl::Hours(87600)},
  };
  for (const auto& [text, want] : cases) {
    const absl::StatusOr<absl::Duration> got = ParseDuration(text);
    ASSERT_THAT(got, IsOk()) << text;
    EXPECT_EQ(*got, want) << text;
  }
}

TEST(ParseDuration, RefusesWhatIsNoCountedUnit) {
  for (const char* text : {"", " ", "10", "s", "second", "second5m", "5m3",
                           "10 m", "-10m", "+1s", "1H", "5minutes", "1e3s"}) {
    EXPECT_THAT(ParseDuration(text),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("want a duration, such as 500ms, 30s")))
        << text;
  }
}

TEST(ParseDuration, RefusesWhatIsOutOfRange) {
  EXPECT_THAT(ParseDuration("0s"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "got \"0s\", want a duration of at least 1ns"));
  EXPECT_THAT(ParseDuration("3650d1ns"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "got \"3650d1ns\", want a duration of at most 10 years "
                       "(3650d)"));
  EXPECT_THAT(ParseDuration("99999999999999999999999year"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("want a duration of at most 10 years")));
}

}  // namespace
}  // namespace tollgate
