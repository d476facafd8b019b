#include "server/metrics/sharded_counters.h"

#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace tollgate {
namespace {

TEST(ShardedCounters, SumsWhatAllThreadsAdded) {
  ShardedCounters counters(3, 4);
  counters.Grow(10);
  std::vector<std::thread> threads;
  for (int t = 0; t < 100; ++t) {
    threads.emplace_back([&counters] {
      for (size_t row = 0; row < 10; ++row) counters.Add(row, row % 3, row);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (size_t row = 0; row < 10; ++row) {
    for (size_t column = 0; column < 3; ++column) {
      EXPECT_EQ(counters.Sum(row, column), column == row % 3 ? 100 * row : 0);
    }
  }
}

TEST(ShardedCounters, KeepsItsValuesWhileItGrows) {
  ShardedCounters counters(2, 4);
  counters.Grow(1);
  counters.Add(0, 1);
  counters.Grow(100);
  counters.Add(99, 0);
  EXPECT_EQ(counters.Sum(0, 1), 1U);
  EXPECT_EQ(counters.Sum(99, 0), 1U);
}

TEST(ShardedCounters, DoesNotCountARowThatWasNeverMade) {
  ShardedCounters counters(1, 4);
  counters.Grow(4);
  counters.Add(4, 0);
  counters.Add(size_t{1} << 40, 0);
  EXPECT_EQ(counters.Sum(4, 0), 0U);
  EXPECT_EQ(counters.Sum(size_t{1} << 40, 0), 0U);
}

}  // namespace
}  // namespace tollgate
