#include "server/app/overflow_log.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tollgate {
namespace {

using ::testing::HasSubstr;

TEST(NoticeOverflow, SaysNothingWhileNoKeyIsInNeed) {
  uint64_t said = 0;

  const OverflowNotice notice = NoticeOverflow(0, 100, &said);

  EXPECT_EQ(notice.line, "");
  EXPECT_EQ(notice.pause, absl::Seconds(1));
}

TEST(NoticeOverflow, SaysHowManyWereSinceTheLastTimeOnceAMinute) {
  uint64_t said = 0;

  const OverflowNotice first = NoticeOverflow(7, 100, &said);
  EXPECT_THAT(first.line, HasSubstr("100 buckets: 7 requests"));
  EXPECT_EQ(first.pause, absl::Minutes(1));

  const OverflowNotice second = NoticeOverflow(10, 100, &said);
  EXPECT_THAT(second.line, HasSubstr(": 3 requests"));
  EXPECT_EQ(second.pause, absl::Minutes(1));

  EXPECT_EQ(NoticeOverflow(10, 100, &said).line, "");
  EXPECT_EQ(NoticeOverflow(10, 100, &said).pause, absl::Seconds(1));
}

}  // namespace
}  // namespace tollgate
