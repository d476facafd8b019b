// Requests charged by descriptor, from several threads.
#include <atomic>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/base/clock.h"
#include "tests/limiter/nodes.h"

namespace tollgate {
namespace {

// Threads take exactly the limit, while rules are loaded again and others bring
// limits of their own.
TEST(DescriptorRace, ThreadsTakeExactlyTheLimit) {
  FakeClock clock(kStart);
  Limiter limiter(clock);
  const auto rules = [] {
    return std::vector<Rule>{NodeAt({{"user", ""}}, {Written(1000)}),
                             NodeAt({{"site", "*"}}, {Written(1500)})};
  };
  SetRules(limiter, rules());
  std::atomic<int> allowed{0};
  std::atomic<int> own{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const std::vector<Entry> user = {{"user", "ana"}};
      const std::vector<Entry> site = {{"site", "s"}};
      for (int i = 0; i < 400; ++i) {
        if (AskAll(limiter, {user, site}).allowed()) ++allowed;
        if (AskOn(limiter, {user}, {Override(100, LimitUnit::kHour)})
                .allowed()) {
          ++own;
        }
        AskOn(limiter, {user},
              {Override(1000 + static_cast<uint64_t>(100 * t + i % 50),
                        LimitUnit::kHour)});
        if (i % 100 == 0) SetRules(limiter, rules());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(allowed, 1000);
  EXPECT_EQ(own, 100);
  EXPECT_EQ(Remaining(limiter, {{"site", "s"}}), 500u);
}

}  // namespace
}  // namespace tollgate
