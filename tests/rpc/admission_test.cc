#include "server/rpc/admission.h"

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/rpc/call_context.h"
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
  EXPECT_EQ(entrance.admission.Admit(arrived, 5700, Queue::kShort).value(),
            kStartNs + 700);
  EXPECT_EQ(entrance.admission.Admit(arrived, 5000, Queue::kShort).value(),
            kStartNs);
}

TEST(Admission, TurnsAwayACallOneNanosecondPastItsDeadline) {
  Entrance entrance;
  const int64_t arrived = entrance.admission.Arrive();
  EXPECT_THAT(
      entrance.admission.Admit(arrived, 4999, Queue::kShort),
      StatusIs(absl::StatusCode::kDeadlineExceeded, HasSubstr("deadline")));
  EXPECT_EQ(entrance.observer.expired, 1);
}

TEST(Admission, KeepsNoDeadlineAndNeverOverflows) {
  Entrance entrance;
  const int64_t arrived = entrance.admission.Arrive();
  EXPECT_EQ(
      entrance.admission.Admit(arrived, kNoDeadline, Queue::kShort).value(),
      kNoDeadline);
  EXPECT_EQ(
      entrance.admission.Admit(arrived, kNoDeadline - 1, Queue::kShort).value(),
      kNoDeadline);
}

TEST(Admission, TurnsAwayWhatIsAboveTheCapUntilACallLeaves) {
  Entrance entrance;
  const int64_t first = entrance.admission.Arrive();
  EXPECT_TRUE(entrance.admission.Admit(first, kNoDeadline, Queue::kShort).ok());
  const int64_t second = entrance.admission.Arrive();
  EXPECT_TRUE(
      entrance.admission.Admit(second, kNoDeadline, Queue::kShort).ok());
  const int64_t third = entrance.admission.Arrive();
  EXPECT_THAT(entrance.admission.Admit(third, kNoDeadline, Queue::kShort),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("overload")));
  EXPECT_EQ(entrance.observer.overload, 1);
  entrance.admission.Leave(third);
  entrance.admission.Leave(first);
  const int64_t fourth = entrance.admission.Arrive();
  EXPECT_TRUE(
      entrance.admission.Admit(fourth, kNoDeadline, Queue::kShort).ok());
}

TEST(Admission, TurnsAwayWhatComesToAQueueThatIsTooLong) {
  Entrance entrance;
  const int64_t arrived = entrance.admission.Arrive();
  EXPECT_THAT(
      entrance.admission.Admit(arrived, kNoDeadline, Queue::kTooLong),
      StatusIs(absl::StatusCode::kUnavailable, HasSubstr("wait too long")));
  EXPECT_EQ(entrance.observer.long_queue, 1);
  EXPECT_EQ(entrance.observer.overload, 0);
  EXPECT_FALSE(entrance.admission.TakeWasFull());
}

TEST(Admission, SaysOnceThatItWasFull) {
  Entrance entrance;
  for (int i = 0; i < 2; ++i) entrance.admission.Arrive();
  const int64_t third = entrance.admission.Arrive();
  EXPECT_FALSE(entrance.admission.TakeWasFull());
  EXPECT_FALSE(
      entrance.admission.Admit(third, kNoDeadline, Queue::kShort).ok());
  EXPECT_TRUE(entrance.admission.TakeWasFull());
  EXPECT_FALSE(entrance.admission.TakeWasFull());
}

TEST(SteadyDeadlineNs, KeepsWhatGrpcStates) {
  EXPECT_EQ(SteadyDeadlineNs({3, 7, GPR_CLOCK_MONOTONIC}), 3'000'000'007);
  EXPECT_EQ(SteadyDeadlineNs(gpr_inf_future(GPR_CLOCK_MONOTONIC)), kNoDeadline);
  EXPECT_EQ(SteadyDeadlineNs(gpr_inf_past(GPR_CLOCK_MONOTONIC)), 0);
}

}  // namespace
}  // namespace tollgate
