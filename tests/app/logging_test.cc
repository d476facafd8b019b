#include "server/app/logging.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "spdlog/spdlog.h"

namespace tollgate {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

TEST(EscapeJson, EscapesWhatAStringMustNotHold) {
  EXPECT_EQ(EscapeJson("a\"b\\c\nd\te\x01"), "a\\\"b\\\\c\\nd\\u0009e\\u0001");
  EXPECT_EQ(EscapeJson("\xC3\xA9t\xC3\xA9"), "\xC3\xA9t\xC3\xA9");
  EXPECT_EQ(EscapeJson(""), "");
}

TEST(StartLogging, WritesOneJsonObjectALine) {
  testing::internal::CaptureStderr();
  StartLogging(LogLevel::kInfo, LogFormat::kJson);
  spdlog::info("two\nlines, {} 100%", "\"quoted\"");
  EXPECT_THAT(
      testing::internal::GetCapturedStderr(),
      MatchesRegex("\\{\"time\":\"[-0-9]+T[0-9:.]+Z\",\"level\":\"info\","
                   "\"message\":\"two\\\\nlines, \\\\\"quoted\\\\\" 100%\"\\}"
                   "\n"));
}

TEST(StartLogging, LeavesOutWhatIsBelowTheLevel) {
  testing::internal::CaptureStderr();
  StartLogging(LogLevel::kWarning, LogFormat::kText);
  spdlog::info("quiet");
  spdlog::warn("loud");
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              AllOf(HasSubstr(" warning loud\n"), Not(HasSubstr("quiet"))));
}

}  // namespace
}  // namespace tollgate
