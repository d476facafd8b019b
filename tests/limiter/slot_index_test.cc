#include "server/limiter/slot_index.h"

#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace tollgate {
namespace {

// An index over the fingerprints of this vector.
class Slots {
 public:
  uint32_t Find(const Fingerprint& fingerprint) const {
    return index_.Find(fingerprint, FingerprintOf{fingerprints_});
  }
  void Add(const Fingerprint& fingerprint) {
    const auto slot = static_cast<uint32_t>(fingerprints_.size());
    index_.Insert(fingerprint, slot, FingerprintOf{fingerprints_});
    fingerprints_.push_back(fingerprint);
  }
  // Removes the one at `slot`; the last moves into its place.
  void Remove(uint32_t slot) {
    const auto last = static_cast<uint32_t>(fingerprints_.size() - 1);
    index_.Erase(fingerprints_[slot], slot, FingerprintOf{fingerprints_});
    if (slot != last) {
      index_.Move(fingerprints_[last], last, slot);
      fingerprints_[slot] = fingerprints_[last];
    }
    fingerprints_.pop_back();
    index_.Shrink(FingerprintOf{fingerprints_});
  }
  void CheckAll() const {
    ASSERT_EQ(index_.size(), fingerprints_.size());
    for (uint32_t slot = 0; slot < fingerprints_.size(); ++slot) {
      ASSERT_EQ(Find(fingerprints_[slot]), slot);
    }
  }
  [[nodiscard]] const SlotIndex& index() const { return index_; }
  [[nodiscard]] size_t size() const { return fingerprints_.size(); }

 private:
  struct FingerprintOf {
    const std::vector<Fingerprint>& fingerprints;
    const Fingerprint& operator()(uint32_t slot) const {
      return fingerprints[slot];
    }
  };

  SlotIndex index_;
  std::vector<Fingerprint> fingerprints_;
};

TEST(SlotIndex, FindsNothingWhileEmpty) {
  EXPECT_EQ(Slots().Find({1, 2}), SlotIndex::kNone);
  EXPECT_EQ(SlotIndex().capacity(), 0u);
}

TEST(SlotIndex, FindsWhatItWasGivenAndNothingElse) {
  Slots slots;
  slots.Add({1, 2});
  slots.Add({3, 4});

  EXPECT_EQ(slots.Find({1, 2}), 0u);
  EXPECT_EQ(slots.Find({3, 4}), 1u);
  EXPECT_EQ(slots.Find({1, 4}), SlotIndex::kNone);
  EXPECT_EQ(slots.Find({0, 0}), SlotIndex::kNone);
}

TEST(SlotIndex, TellsFingerprintsOfOneHomeAndTagApart) {
  Slots slots;
  for (uint64_t hi = 0; hi < 100; ++hi) slots.Add({hi, 7});
  slots.CheckAll();

  EXPECT_EQ(slots.Find({100, 7}), SlotIndex::kNone);
}

TEST(SlotIndex, FillsThreeQuartersOfItsPlacesAtMost) {
  Slots slots;
  for (uint64_t i = 0; i < 10'000; ++i) {
    slots.Add({i, i * 0x9E3779B97F4A7C15});
    ASSERT_LE(slots.size() * 4, slots.index().capacity() * 3);
  }
  slots.CheckAll();
}

TEST(SlotIndex, GivesMemoryBackAsItEmpties) {
  Slots slots;
  for (uint64_t i = 0; i < 10'000; ++i) slots.Add({i, i});
  const uint32_t full = slots.index().capacity();

  while (slots.size() > 10) slots.Remove(0);
  EXPECT_LE(slots.index().capacity(), full / 64);
  slots.CheckAll();

  while (slots.size() > 0) slots.Remove(0);
  EXPECT_EQ(slots.index().capacity(), 0u);
}

// Fingerprints of few homes make long runs that wrap around the end, which is
// where an erasure moves entries up.
TEST(SlotIndex, StaysWholeThroughRandomInsertionsAndErasures) {
  for (const uint64_t homes : {1, 3, 8, 1000}) {
    SCOPED_TRACE(testing::Message() << homes << " homes");
    std::mt19937 random(static_cast<uint32_t>(homes));
    Slots slots;
    uint64_t next = 0;
    for (int i = 0; i < 3000; ++i) {
      // Grows for a while, then shrinks for a while.
      const bool grow = random() % 100 < (i / 500 % 2 == 0 ? 70U : 35U);
      if (grow || slots.size() == 0) {
        const uint64_t tag = random() % 4;
        slots.Add({next++, (tag << 56) | (0xFFFFFFFF - random() % homes)});
      } else {
        slots.Remove(random() % slots.size());
      }
      slots.CheckAll();
      ASSERT_FALSE(testing::Test::HasFatalFailure()) << "step " << i;
    }
  }
}

}  // namespace
}  // namespace tollgate
