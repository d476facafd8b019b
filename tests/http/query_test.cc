#include "server/http/query.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace tollgate {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST(Query, IsSplitAndDecodedInItsOrder) {
  EXPECT_THAT(ParseQuery("b=2&a=1&b=3").value(),
              ElementsAre(Pair("b", "2"), Pair("a", "1"), Pair("b", "3")));
  EXPECT_THAT(ParseQuery("p%61th=%2Flogin%3Fx%3D1%26y&q=a+b%2B").value(),
              ElementsAre(Pair("path", "/login?x=1&y"), Pair("q", "a b+")));
}

TEST(Query, TakesWhatHasNoValue) {
  EXPECT_THAT(ParseQuery("a&b=&=c&d=e=f").value(),
              ElementsAre(Pair("a", ""), Pair("b", ""), Pair("", "c"),
                          Pair("d", "e=f")));
}

TEST(Query, LeavesOutWhatIsEmpty) {
  EXPECT_THAT(ParseQuery("").value(), IsEmpty());
  EXPECT_THAT(ParseQuery("&a=1&&").value(), ElementsAre(Pair("a", "1")));
}

TEST(Query, DecodesEveryByteInEitherCase) {
  EXPECT_THAT(ParseQuery("a=%ff%FF%00").value(),
              ElementsAre(Pair("a", std::string("\xFF\xFF\0", 3))));
}

TEST(Query, RefusesAPercentWithoutTwoDigits) {
  for (const char* bad : {"b=%", "b=%4", "b=%4g", "b=%g4", "%=1", "b=%%41"}) {
    EXPECT_THAT(ParseQuery(std::string("a=1&") + bad),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("parameter 2: got a %")))
        << bad;
  }
}

}  // namespace
}  // namespace tollgate
