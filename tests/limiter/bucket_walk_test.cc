#include <atomic>
#include <set>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "server/limiter/bucket_table.h"

namespace tollgate {
namespace {

constexpr int64_t kNow = 1000;

// Well spread over stripes and slots, and never two alike.
Fingerprint Print(uint64_t number) {
  return {number * 0x9E3779B97F4A7C15, number};
}

void Make(BucketTable& table, uint64_t number) {
  const LockedBucket bucket = *table.FindOrCreate(Print(number));
  bucket.state().Set(number);
  bucket.limit_id() = 7;
}

// The buckets of a whole walk; `between` runs between its steps.
template <typename Between>
std::multiset<uint64_t> WalkAll(BucketTable& table, size_t step,
                                const Between& between) {
  std::multiset<uint64_t> met;
  BucketTable::Cursor cursor;
  const auto visit = [&](const Fingerprint& fingerprint,
                         const BucketState& state, uint32_t limit_id) {
    EXPECT_EQ(state.As<uint64_t>(), fingerprint.lo);
    EXPECT_EQ(limit_id, 7u);
    met.insert(fingerprint.lo);
    return true;
  };
  while (table.Walk(cursor, step, visit)) between();
  return met;
}

TEST(BucketTableWalk, OfNothingIsOverAtOnce) {
  BucketTable table(4);
  EXPECT_TRUE(WalkAll(table, 10, [] { FAIL(); }).empty());
}

TEST(BucketTableWalk, MeetsEveryBucketOnce) {
  BucketTable table(4);
  std::multiset<uint64_t> all;
  for (uint64_t i = 0; i < 1000; ++i) {
    Make(table, i);
    all.insert(i);
  }
  for (const size_t step : {1, 7, 128, 100'000}) {
    EXPECT_EQ(WalkAll(table, step, [] {}), all) << step;
  }
}

TEST(BucketTableWalk, AStepIsShortHoweverManyAreAskedFor) {
  BucketTable table(1);
  for (uint64_t i = 0; i < 1000; ++i) Make(table, i);
  BucketTable::Cursor cursor;
  int met = 0;
  table.Walk(cursor, 1000, [&](const auto&, const auto&, auto) {
    ++met;
    return true;
  });
  EXPECT_EQ(met, 128);
}

TEST(BucketTableWalk, EndsAStepWhenToldTo) {
  BucketTable table(1);
  for (uint64_t i = 0; i < 10; ++i) Make(table, i);
  BucketTable::Cursor cursor;
  std::vector<int> steps(1);
  const auto visit = [&](const auto&, const auto&, auto) {
    return ++steps.back() < 4;
  };
  while (table.Walk(cursor, 100, visit)) steps.push_back(0);
  EXPECT_EQ(steps, (std::vector<int>{4, 4, 2, 0}));
}

TEST(BucketTableWalk, MissesNothingThatTheSweepMoves) {
  BucketTable table(2);
  for (uint64_t i = 0; i < 1000; ++i) Make(table, i);
  const std::multiset<uint64_t> met = WalkAll(table, 10, [&] {
    table.Sweep(40, kNow, [](const BucketState& state, uint32_t) {
      return state.As<uint64_t>() % 2 == 0;
    });
  });
  for (uint64_t i = 1; i < 1000; i += 2) EXPECT_GE(met.count(i), 1u) << i;
}

TEST(BucketTableWalk, MissesNothingThatIsInUse) {
  BucketTable table(2);
  for (uint64_t i = 0; i < 500; ++i) Make(table, i);
  std::atomic<bool> stop{false};
  std::vector<std::thread> users;
  for (uint64_t t = 0; t < 2; ++t) {
    users.emplace_back([&, t] {
      for (uint64_t i = t; !stop; i = (i + 1) % 20) {
        const LockedBucket bucket = *table.FindOrCreate(Print(i));
        bucket.state().Set(i);
      }
    });
  }
  for (int round = 0; round < 50; ++round) {
    const std::multiset<uint64_t> met = WalkAll(table, 100, [] {});
    for (uint64_t i = 0; i < 500; ++i) ASSERT_EQ(met.count(i), 1u) << i;
  }
  stop = true;
  for (std::thread& user : users) user.join();
}

}  // namespace
}  // namespace tollgate
