#include "server/limiter/bucket_table.h"

#include <atomic>
#include <random>
#include <thread>
#include <unordered_map>
#include <vector>

#include "gtest/gtest.h"

namespace tollgate {
namespace {

// Well spread over stripes and slots, and never two alike.
Fingerprint Print(uint64_t number) {
  return {number * 0x9E3779B97F4A7C15, number};
}

constexpr int64_t kNow = 1000;

bool Always(const BucketState&, uint32_t) { return true; }
bool Never(const BucketState&, uint32_t) { return false; }

// Makes a bucket that remembers `number`.
void Make(BucketTable& table, uint64_t number) {
  const LockedBucket bucket = *table.FindOrCreate(Print(number));
  bucket.state().Set(number);
  bucket.limit_id() = 1;
}

TEST(BucketTable, SweepsAllThereAreAlsoFromTheMiddleOfAStripe) {
  BucketTable table(2);
  for (uint64_t i = 0; i < 20; ++i) Make(table, i);
  ASSERT_EQ(table.Sweep(3, kNow, Never), 0u);

  EXPECT_EQ(table.Sweep(20, kNow, Always), 20u);
  EXPECT_EQ(table.size(), 0u);
}

TEST(BucketTable, IsEmptyAtFirst) {
  BucketTable table(4);

  EXPECT_EQ(table.size(), 0u);
  EXPECT_EQ(table.stripe_count(), 4u);
  EXPECT_EQ(table.swept_count(), 0u);
  EXPECT_FALSE(table.Find(Print(1)).has_value());
  EXPECT_EQ(table.size(), 0u);  // looking makes nothing
}

TEST(BucketTable, MakesABucketUntouched) {
  BucketTable table(4);

  const LockedBucket bucket = *table.FindOrCreate(Print(1));

  EXPECT_EQ(bucket.limit_id(), 0u);
  EXPECT_EQ(bucket.state().bytes, BucketState().bytes);
  EXPECT_EQ(table.size(), 1u);
}

TEST(BucketTable, FindsTheSameBucketAgain) {
  BucketTable table(4);
  Make(table, 1);
  Make(table, 2);

  EXPECT_EQ(table.FindOrCreate(Print(1))->state().As<uint64_t>(), 1u);
  EXPECT_EQ(table.Find(Print(2))->state().As<uint64_t>(), 2u);
  EXPECT_EQ(table.size(), 2u);
}

TEST(BucketTable, ComparesWholeFingerprints) {
  BucketTable table(1);
  table.FindOrCreate({1, 7})->state().Set(uint64_t{17});
  table.FindOrCreate({2, 7})->state().Set(uint64_t{27});
  table.FindOrCreate({1, 8})->state().Set(uint64_t{18});

  EXPECT_EQ(table.size(), 3u);
  EXPECT_EQ(table.Find({1, 7})->state().As<uint64_t>(), 17u);
  EXPECT_EQ(table.Find({2, 7})->state().As<uint64_t>(), 27u);
  EXPECT_EQ(table.Find({1, 8})->state().As<uint64_t>(), 18u);
}

TEST(BucketTable, ABucketIsHeldUntilItsHandleDies) {
  BucketTable table(1);
  std::atomic<bool> entered{false};
  std::thread other;
  {
    const LockedBucket held = *table.FindOrCreate(Print(1));
    other = std::thread([&] {
      const LockedBucket bucket = *table.FindOrCreate(Print(1));
      entered = true;
    });
    // Another bucket of the same stripe is free meanwhile.
    for (uint64_t i = 2; i < 1000; ++i) Make(table, i);
    EXPECT_FALSE(entered);
  }
  other.join();
  EXPECT_TRUE(entered);
}

TEST(BucketTableSweep, RemovesOnlyTheForgettable) {
  BucketTable table(4);
  for (uint64_t i = 0; i < 100; ++i) Make(table, i);

  const size_t removed =
      table.Sweep(100, kNow, [](const BucketState& state, uint32_t) {
        return state.As<uint64_t>() % 2 == 0;
      });

  EXPECT_EQ(removed, 50u);
  EXPECT_EQ(table.size(), 50u);
  EXPECT_EQ(table.swept_count(), 50u);
  for (uint64_t i = 0; i < 100; ++i) {
    EXPECT_EQ(table.Find(Print(i)).has_value(), i % 2 == 1) << i;
  }
}

TEST(BucketTableSweep, ShowsTheLimitOfEachBucket) {
  BucketTable table(4);
  table.FindOrCreate(Print(1))->limit_id() = 11;
  table.FindOrCreate(Print(2))->limit_id() = 22;

  table.Sweep(2, kNow,
              [](const BucketState&, uint32_t id) { return id == 22; });

  EXPECT_TRUE(table.Find(Print(1)).has_value());
  EXPECT_FALSE(table.Find(Print(2)).has_value());
}

TEST(BucketTableSweep, ARemovedBucketComesBackUntouched) {
  BucketTable table(1);
  for (uint64_t i = 0; i < 100; ++i) Make(table, i);
  ASSERT_EQ(table.Sweep(100, kNow, Always), 100u);

  for (uint64_t i = 0; i < 100; ++i) {
    const LockedBucket bucket = *table.FindOrCreate(Print(i));
    ASSERT_EQ(bucket.limit_id(), 0u);
    ASSERT_EQ(bucket.state().bytes, BucketState().bytes);
  }
}

TEST(BucketTableSweep, LooksAtNoMoreThanItIsTold) {
  BucketTable table(8);
  for (uint64_t i = 0; i < 1000; ++i) Make(table, i);

  for (const size_t step : {0, 1, 2, 127, 128, 129, 500}) {
    size_t looked = 0;
    EXPECT_EQ(table.Sweep(step, kNow,
                          [&](const BucketState&, uint32_t) {
                            ++looked;
                            return false;
                          }),
              0u);
    EXPECT_EQ(looked, step);
  }
}

TEST(BucketTableSweep, LooksAtEachOnceWhereThereAreFewer) {
  BucketTable table(8);
  for (uint64_t i = 0; i < 10; ++i) Make(table, i);
  std::vector<int> looked(10, 0);

  table.Sweep(1'000'000, kNow, [&](const BucketState& state, uint32_t) {
    ++looked[state.As<uint64_t>()];
    return false;
  });

  EXPECT_EQ(looked, std::vector<int>(10, 1));
}

TEST(BucketTableSweep, GoesOnWhereItStopped) {
  BucketTable table(8);
  for (uint64_t i = 0; i < 1000; ++i) Make(table, i);
  std::vector<int> looked(1000, 0);

  for (int step = 0; step < 100; ++step) {
    table.Sweep(10, kNow, [&](const BucketState& state, uint32_t) {
      ++looked[state.As<uint64_t>()];
      return false;
    });
  }

  EXPECT_EQ(looked, std::vector<int>(1000, 1));
}

TEST(BucketTableSweep, EndsOnAnEmptyTable) {
  BucketTable table(1024);

  EXPECT_EQ(table.Sweep(1'000'000, kNow, Always), 0u);
}

TEST(BucketTableSweep, PassesOverALockedBucketAndKeepsIt) {
  BucketTable table(1);
  for (uint64_t i = 0; i < 10; ++i) Make(table, i);
  for (uint64_t held = 0; held < 10; ++held) {
    const LockedBucket bucket = *table.FindOrCreate(Print(held));
    bucket.state().Set(held);
    table.Sweep(100, kNow, Always);
    table.Sweep(100, kNow, Always);
    EXPECT_EQ(bucket.state().As<uint64_t>(), held);
    EXPECT_GE(table.size(), 1u);
  }

  // The last one held was in use all the time; now it may go.
  EXPECT_EQ(table.Find(Print(9))->state().As<uint64_t>(), 9u);
  table.Sweep(100, kNow, Always);
  EXPECT_EQ(table.size(), 0u);
}

TEST(BucketTableSweep, KeepsABucketThatSomebodyWaitsFor) {
  BucketTable table(1);
  std::atomic<uint64_t> seen{0};
  std::thread waiter;
  {
    const LockedBucket held = *table.FindOrCreate(Print(1));
    waiter = std::thread(
        [&] { seen = table.FindOrCreate(Print(1))->state().As<uint64_t>(); });
    for (int i = 0; i < 1000; ++i) table.Sweep(100, kNow, Always);
    held.state().Set(uint64_t{7});
  }
  waiter.join();

  // Whether the thread waited or came later, it met the bucket: only a sweep
  // removes one, and none ran since.
  EXPECT_EQ(seen, 7u);
}

TEST(BucketTableCap, MakesBucketsUpToItAndNotOneMore) {
  BucketTable table(4, /*max_buckets=*/100);
  for (uint64_t i = 0; i < 99; ++i) Make(table, i);
  EXPECT_TRUE(table.has_room());

  Make(table, 99);
  EXPECT_FALSE(table.has_room());
  EXPECT_FALSE(table.FindOrCreate(Print(100)).has_value());
  EXPECT_FALSE(table.Find(Print(100)).has_value());
  EXPECT_EQ(table.size(), 100u);
}

TEST(BucketTableCap, LeavesTheBucketsThatThereAreAlone) {
  BucketTable table(4, 100);
  for (uint64_t i = 0; i < 100; ++i) Make(table, i);
  for (uint64_t i = 100; i < 200; ++i) {
    ASSERT_FALSE(table.FindOrCreate(Print(i)).has_value());
  }

  for (uint64_t i = 0; i < 100; ++i) {
    ASSERT_EQ(table.FindOrCreate(Print(i))->state().As<uint64_t>(), i);
  }
}

TEST(BucketTableCap, ASweepMakesRoomAgain) {
  BucketTable table(4, 100);
  for (uint64_t i = 0; i < 100; ++i) Make(table, i);

  ASSERT_EQ(table.Sweep(100, kNow,
                        [](const BucketState& state, uint32_t) {
                          return state.As<uint64_t>() == 7;
                        }),
            1u);

  EXPECT_TRUE(table.FindOrCreate(Print(100)).has_value());
  EXPECT_FALSE(table.FindOrCreate(Print(101)).has_value());
  EXPECT_EQ(table.size(), 100u);
}

TEST(BucketTableCap, OfOneBucketHoldsOne) {
  BucketTable table(1, 1);
  Make(table, 1);

  EXPECT_FALSE(table.FindOrCreate(Print(2)).has_value());
  EXPECT_EQ(table.FindOrCreate(Print(1))->state().As<uint64_t>(), 1u);
  ASSERT_EQ(table.Sweep(1, kNow, Always), 1u);
  EXPECT_TRUE(table.FindOrCreate(Print(2)).has_value());
}

TEST(BucketTableSweepNear, LooksAtAFewOfOneStripeAndGoesOnThere) {
  BucketTable table(2);
  const auto in_stripe = [](uint64_t number) {
    return Fingerprint{number * 2, number};
  };
  for (uint64_t i = 0; i < 10; ++i) {
    table.FindOrCreate(in_stripe(i))->state().Set(i);
  }
  table.FindOrCreate({1, 1})->state().Set(uint64_t{10});  // in the other one
  std::vector<int> looked(11, 0);
  const auto look = [&] {
    return table.SweepNear(in_stripe(99), 4, kNow,
                           [&](const BucketState& state, uint32_t) {
                             ++looked[state.As<uint64_t>()];
                             return false;
                           });
  };

  EXPECT_EQ(look(), 0u);
  EXPECT_EQ(looked, (std::vector<int>{1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(look(), 0u);
  EXPECT_EQ(look(), 0u);  // the end
  EXPECT_EQ(looked, (std::vector<int>{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0}));
  EXPECT_EQ(look(), 0u);  // and from the start
  EXPECT_EQ(looked, (std::vector<int>{2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 0}));
}

TEST(BucketTableSweepNear, RemovesTheForgettableAndMakesRoom) {
  BucketTable table(1, 10);
  for (uint64_t i = 0; i < 10; ++i) Make(table, i);

  EXPECT_EQ(table.SweepNear(Print(99), 4, 500, Always), 4u);

  EXPECT_EQ(table.size(), 6u);
  EXPECT_EQ(table.swept_count(), 4u);
  EXPECT_TRUE(table.has_room());
  EXPECT_EQ(table.FindOrCreate(Print(99))->not_before_ns(), 500);
}

TEST(BucketTableSweepNear, EndsInAnEmptyStripe) {
  BucketTable table(1);

  EXPECT_EQ(table.SweepNear(Print(1), 4, kNow, Always), 0u);
}

// Creates, looks up and sweeps at random, next to a std::unordered_map.
class Churn {
 public:
  Churn(uint32_t seed, size_t stripes) : random_(seed), table_(stripes) {}

  void Step() {
    const uint32_t choice = random_() % 100;
    if (choice < 60) {
      Create(random_() % 2000);
    } else if (choice < 98) {
      Look(random_() % 2000);
    } else {
      Sweep(random_() % 500);
    }
    ASSERT_EQ(table_.size(), model_.size());
  }

  // Everything that is remembered, and nothing else, is found.
  void CheckAll() {
    for (uint64_t number = 0; number < 2000; ++number) Look(number);
  }

 private:
  void Create(uint64_t number) {
    const LockedBucket bucket = *table_.FindOrCreate(Print(number));
    const auto known = model_.find(number);
    ASSERT_EQ(bucket.limit_id(), known == model_.end() ? 0 : known->second);
    const uint32_t value = random_() | 1;
    bucket.limit_id() = value;
    bucket.state().Set(number);
    model_[number] = value;
  }

  void Look(uint64_t number) {
    const auto bucket = table_.Find(Print(number));
    const auto known = model_.find(number);
    ASSERT_EQ(bucket.has_value(), known != model_.end()) << number;
    if (!bucket.has_value()) return;
    ASSERT_EQ(bucket->limit_id(), known->second);
    ASSERT_EQ(bucket->state().As<uint64_t>(), number);
  }

  void Sweep(size_t step) {
    // Mostly a few, at times nearly all, so that the table shrinks too.
    const uint32_t share = random_() % 4 == 0 ? 95 : 30;
    size_t dropped = 0;
    const size_t removed =
        table_.Sweep(step, kNow, [&](const BucketState& state, uint32_t value) {
          if (value / 2 % 100 >= share) return false;
          dropped += model_.erase(state.As<uint64_t>());
          return true;
        });
    ASSERT_EQ(removed, dropped);
  }

  std::mt19937 random_;
  BucketTable table_;
  std::unordered_map<uint64_t, uint32_t> model_;
};

TEST(BucketTable, AgreesWithAMapThroughRandomCreationsAndSweeps) {
  for (const size_t stripes : {1, 4, 64}) {
    for (uint32_t seed = 1; seed <= 3; ++seed) {
      SCOPED_TRACE(testing::Message()
                   << "stripes " << stripes << ", seed " << seed);
      Churn churn(seed, stripes);
      for (int i = 0; i < 30'000; ++i) {
        churn.Step();
        ASSERT_FALSE(testing::Test::HasFatalFailure()) << "step " << i;
      }
      churn.CheckAll();
    }
  }
}

TEST(BucketTableSweep, ABucketMadeAfterItMustNotDecideForAnEarlierInstant) {
  BucketTable table(1);
  Make(table, 1);
  EXPECT_EQ(table.FindOrCreate(Print(2))->not_before_ns(), 0);

  table.Sweep(100, 500, Never);
  EXPECT_EQ(table.FindOrCreate(Print(3))->not_before_ns(), 0);

  table.Sweep(100, 700, Always);
  table.Sweep(100, 600, Always);
  EXPECT_EQ(table.FindOrCreate(Print(1))->not_before_ns(), 700);
  // It has a time of its own now.
  EXPECT_EQ(table.FindOrCreate(Print(1))->not_before_ns(), 0);
  EXPECT_EQ(table.Find(Print(1))->not_before_ns(), 0);
}

TEST(BucketTable, GrowsAndEmptiesAndGrowsAgain) {
  BucketTable table(2);
  for (int round = 0; round < 3; ++round) {
    for (uint64_t i = 0; i < 20'000; ++i) Make(table, i);
    ASSERT_EQ(table.size(), 20'000u);
    ASSERT_EQ(table.Sweep(20'000, kNow, Never), 0u);
    ASSERT_EQ(table.Sweep(20'000, kNow, Always), 20'000u);
    ASSERT_EQ(table.size(), 0u);
  }
}

}  // namespace
}  // namespace tollgate
