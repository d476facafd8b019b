#include "server/base/clock.h"

#include "absl/time/time.h"
#include "gtest/gtest.h"

namespace tollgate {
namespace {

TEST(SystemClock, NeverGoesBack) {
  const SystemClock clock;
  int64_t last = clock.NowNs();
  for (int i = 0; i < 100'000; ++i) {
    const int64_t now = clock.NowNs();
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST(SystemClock, CountsNanosecondsSinceTheUnixEpoch) {
  const int64_t now = SystemClock().NowNs();

  // Between the years 2020 and 2100: the unit and the origin are right.
  EXPECT_GT(now, absl::ToUnixNanos(absl::FromCivil(absl::CivilYear(2020),
                                                   absl::UTCTimeZone())));
  EXPECT_LT(now, absl::ToUnixNanos(absl::FromCivil(absl::CivilYear(2100),
                                                   absl::UTCTimeZone())));
}

TEST(FakeClock, StandsStillUntilAdvanced) {
  FakeClock clock(1000);
  EXPECT_EQ(clock.NowNs(), 1000);
  EXPECT_EQ(clock.NowNs(), 1000);

  clock.Advance(1);
  EXPECT_EQ(clock.NowNs(), 1001);
}

TEST(FakeClock, GoesBackWhenTold) {
  FakeClock clock(1000);

  clock.Advance(-600);
  EXPECT_EQ(clock.NowNs(), 400);

  clock.Set(7);
  EXPECT_EQ(clock.NowNs(), 7);
}

}  // namespace
}  // namespace tollgate
