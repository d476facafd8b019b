#include "server/rules/quote.h"

#include <optional>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace tollgate {
namespace {

TEST(Quote, ShowsTextOnOneLineAndCutsItBetweenLetters) {
  EXPECT_EQ(Quote(""), "\"\"");
  EXPECT_EQ(Quote("it's\n\"x\" caf\xC3\xA9"),
            "\"it's\\n\\\"x\\\" caf\xC3\xA9\"");
  EXPECT_EQ(Quote(std::string(64, 'x')), "\"" + std::string(64, 'x') + "\"");
  EXPECT_EQ(Quote(std::string(65, 'x')), "\"" + std::string(64, 'x') + "...\"");
  EXPECT_EQ(Quote(std::string(63, 'x') + "\xC3\xA9"),
            "\"" + std::string(63, 'x') + "...\"");
}

TEST(ClosestName, TakesTwoEditsAndNotThree) {
  const std::vector<absl::string_view> names = {"limit", "match", "s"};
  EXPECT_EQ(ClosestName("limit", names), "limit");
  EXPECT_EQ(ClosestName("limt", names), "limit");
  EXPECT_EQ(ClosestName("limits", names), "limit");
  EXPECT_EQ(ClosestName("Limits", names), "limit");
  EXPECT_EQ(ClosestName("mtahc", names), std::nullopt);
  EXPECT_EQ(ClosestName("mathc", names), "match");
  EXPECT_EQ(ClosestName("Limitss", names), std::nullopt);
  EXPECT_EQ(ClosestName("x", names), std::nullopt);  // all of "s" replaced
  EXPECT_EQ(ClosestName(std::string(1 << 20, 'l'), names), std::nullopt);
}

}  // namespace
}  // namespace tollgate
