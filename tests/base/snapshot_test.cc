#include "server/base/snapshot.h"

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace tollgate {
namespace {

// Tells when it dies, so that a test can see how long a value lives.
struct Tracked {
  Tracked(int number, std::atomic<int>& live) : value(number), alive(live) {
    ++alive;
  }
  ~Tracked() { --alive; }
  Tracked(const Tracked&) = delete;
  Tracked& operator=(const Tracked&) = delete;

  const int value;
  std::atomic<int>& alive;
};

TEST(Snapshot, GivesTheValueInForce) {
  Snapshot<int> snapshot(std::make_shared<int>(1));
  EXPECT_EQ(snapshot.Get(), 1);

  snapshot.Set(std::make_shared<int>(2));
  EXPECT_EQ(snapshot.Get(), 2);
  EXPECT_EQ(snapshot.Get(), 2);
}

TEST(Snapshot, KeepsSeveralOfOneTypeApartInOneThread) {
  Snapshot<int> a(std::make_shared<int>(1));
  Snapshot<int> b(std::make_shared<int>(2));

  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(a.Get(), 1);
    EXPECT_EQ(b.Get(), 2);
  }
  a.Set(std::make_shared<int>(3));
  EXPECT_EQ(b.Get(), 2);
  EXPECT_EQ(a.Get(), 3);
}

TEST(Snapshot, IsNotFooledByANewOneAtTheSameAddress) {
  std::optional<Snapshot<int>> snapshot;
  for (int i = 0; i < 10; ++i) {
    snapshot.emplace(std::make_shared<int>(i));
    EXPECT_EQ(snapshot->Get(), i);
  }
}

TEST(Snapshot, DestroysAReplacedValueOnceItsReaderHasReadAgain) {
  std::atomic<int> alive{0};
  Snapshot<Tracked> snapshot(std::make_shared<Tracked>(1, alive));
  const Tracked& first = snapshot.Get();

  snapshot.Set(std::make_shared<Tracked>(2, alive));
  EXPECT_EQ(alive, 2);
  EXPECT_EQ(first.value, 1);  // the reference still holds

  EXPECT_EQ(snapshot.Get().value, 2);
  EXPECT_EQ(alive, 1);
}

TEST(Snapshot, DestroysAReplacedValueOnceItsReadersHaveEnded) {
  std::atomic<int> alive{0};
  Snapshot<Tracked> snapshot(std::make_shared<Tracked>(1, alive));
  std::thread([&snapshot] { EXPECT_EQ(snapshot.Get().value, 1); }).join();

  snapshot.Set(std::make_shared<Tracked>(2, alive));
  EXPECT_EQ(alive, 1);
}

TEST(Snapshot, ShareKeepsTheValueAlive) {
  std::atomic<int> alive{0};
  Snapshot<Tracked> snapshot(std::make_shared<Tracked>(1, alive));
  const std::shared_ptr<const Tracked> kept = snapshot.Share();

  snapshot.Set(std::make_shared<Tracked>(2, alive));
  EXPECT_EQ(kept->value, 1);
  EXPECT_EQ(alive, 2);
  EXPECT_EQ(snapshot.Share()->value, 2);
}

TEST(Snapshot, ReadersSeeWholeValuesAndNeverAnOlderOneWhileAWriterReplaces) {
  using Value = std::array<uint64_t, 64>;
  const auto filled = [](uint64_t number) {
    auto value = std::make_shared<Value>();
    value->fill(number);
    return value;
  };
  Snapshot<Value> snapshot(filled(0));
  std::atomic<bool> done{false};
  std::atomic<int> torn{0};
  std::atomic<int> backward{0};

  std::vector<std::thread> readers;
  for (int i = 0; i < 4; ++i) {
    readers.emplace_back([&] {
      uint64_t last = 0;
      while (!done) {
        const Value& value = snapshot.Get();
        for (const uint64_t item : value) {
          if (item != value[0]) ++torn;
        }
        if (value[0] < last) ++backward;
        last = value[0];
      }
    });
  }
  for (uint64_t number = 1; number <= 20'000; ++number) {
    snapshot.Set(filled(number));
  }
  done = true;
  for (std::thread& reader : readers) reader.join();

  EXPECT_EQ(torn, 0);
  EXPECT_EQ(backward, 0);
  EXPECT_EQ(snapshot.Get()[0], 20'000u);
}

}  // namespace
}  // namespace tollgate
