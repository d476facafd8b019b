#include "client/backstop.h"

#include <atomic>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "server/base/clock.h"

namespace tollgate::client {
namespace {

constexpr int64_t kStartNs = 1'700'000'000'000'000'000;

TEST(Backstop, SixteenThreadsTakeExactlyAThousandAtOneInstant) {
  const FakeClock clock(kStartNs);
  const auto backstop = *Backstop::Create({}, clock);
  std::atomic<int> allowed{0};
  std::vector<std::thread> threads;
  threads.reserve(16);
  for (int t = 0; t < 16; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        if (backstop->Decide(1).allowed) ++allowed;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(allowed, 1000);
}

TEST(Backstop, SaysItsRuleItsSourceAndTheExactWait) {
  FakeClock clock(kStartNs);
  const auto backstop = *Backstop::Create({}, clock);
  ASSERT_TRUE(backstop->Decide(1000).allowed);
  const Decision refused = backstop->Decide(1);
  EXPECT_FALSE(refused.allowed);
  EXPECT_EQ(refused.outcome, Outcome::kRefused);
  EXPECT_EQ(refused.source, Source::kBackstop);
  EXPECT_EQ(refused.retry_after, absl::Milliseconds(1));
  ASSERT_EQ(refused.statuses.size(), 1);
  EXPECT_EQ(refused.statuses[0].rule, "backstop");
  EXPECT_EQ(refused.statuses[0].tokens, 1000);
  EXPECT_EQ(refused.statuses[0].period, absl::Seconds(1));
  EXPECT_EQ(refused.statuses[0].burst, 1000);
  EXPECT_EQ(refused.statuses[0].remaining, 0);
  EXPECT_EQ(refused.statuses[0].reset_after, absl::Seconds(1));

  clock.Advance(999'999);
  EXPECT_FALSE(backstop->Decide(1).allowed);
  clock.Advance(1);
  EXPECT_TRUE(backstop->Decide(1).allowed);
}

TEST(Backstop, APeekTakesNothing) {
  const FakeClock clock(kStartNs);
  ClientOptions options;
  options.backstop_tokens = 1;
  const auto backstop = *Backstop::Create(options, clock);
  EXPECT_TRUE(backstop->Decide(0).allowed);
  EXPECT_TRUE(backstop->Decide(0).allowed);
  EXPECT_TRUE(backstop->Decide(1).allowed);
  EXPECT_FALSE(backstop->Decide(0).allowed);
}

TEST(Backstop, ACostAboveItsTokensIsImpossible) {
  const FakeClock clock(kStartNs);
  const auto backstop = *Backstop::Create({}, clock);
  EXPECT_EQ(backstop->Decide(1001).outcome, Outcome::kImpossible);
  EXPECT_EQ(backstop->Decide(1000).outcome, Outcome::kAllowed);
}

}  // namespace
}  // namespace tollgate::client
