#include "server/rpc/admission.h"

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/rpc/call.h"
#include "tests/rpc/fakes.h"
#include "tests/support/status_matchers.h"

namespace tollgate {
namespace {

using ::testing::HasSubstr;

struct Entrance {
  FakeClock limiter_clock{kStartNs};
  FakeClock steady_clock{5000};
  CountingObserver observer;
  Admission admission{2, limiter_clock, steady_clock, observer};
};

TEST(Admission, CarriesADeadlineOverToTheLimitersClock) {
  Entrance entrance;
  const int64_t arrived = entrance.admission.Arrive();
  EXPECT_EQ(arrived, 5000);
  EXPECT_EQ(entrance.admission.Admit(arrived, 5700).value(), kStartNs + 700);
  EXPECT_EQ(entrance.admission.Admit(arrived, 5000).value(), kStartNs);
}

TEST(Admission, TurnsAwayACallOneNanosecondPastItsDeadline) {
  Entrance entrance;
  const int64_t arrived = entrance.admission.Arrive();
  EXPECT_THAT(
      entrance.admission.Admit(arrived, 4999),
      StatusIs(absl::StatusCode::kDeadlineExceeded, HasSubstr("deadline")));
  EXPECT_EQ(entrance.observer.expired, 1);
}

TEST(Admission, KeepsNoDeadlineAndNeverOverflows) {
  Entrance entrance;
  const int64_t arrived = entrance.admission.Arrive();
  EXPECT_EQ(entrance.admission.Admit(arrived, kNoDeadline).value(),
            kNoDeadline);
  EXPECT_EQ(entrance.admission.Admit(arrived, kNoDeadline - 1).value(),
            kNoDeadline);
}

TEST(Admission, TurnsAwayWhatIsAboveTheCapUntilACallLeaves) {
  Entrance entrance;
  const int64_t first = entrance.admission.Arrive();
  EXPECT_TRUE(entrance.admission.Admit(first, kNoDeadline).ok());
  const int64_t second = entrance.admission.Arrive();
  EXPECT_TRUE(entrance.admission.Admit(second, kNoDeadline).ok());
  const int64_t third = entrance.admission.Arrive();
  EXPECT_THAT(entrance.admission.Admit(third, kNoDeadline),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("overload")));
  EXPECT_EQ(entrance.observer.overload, 1);
  entrance.admission.Leave(third);
  entrance.admission.Leave(first);
  const int64_t fourth = entrance.admission.Arrive();
  EXPECT_TRUE(entrance.admission.Admit(fourth, kNoDeadline).ok());
}

TEST(SteadyDeadlineNs, KeepsWhatGrpcStates) {
  EXPECT_EQ(SteadyDeadlineNs({3, 7, GPR_CLOCK_MONOTONIC}), 3'000'000'007);
  EXPECT_EQ(SteadyDeadlineNs(gpr_inf_future(GPR_CLOCK_MONOTONIC)), kNoDeadline);
  EXPECT_EQ(SteadyDeadlineNs(gpr_inf_past(GPR_CLOCK_MONOTONIC)), 0);
}

}  // namespace
}  // namespace tollgate
