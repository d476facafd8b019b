#include "server/limiter/bucket_chunks.h"

#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace tollgate {
namespace {

TEST(BucketChunks, IsEmptyAtFirst) { EXPECT_EQ(BucketChunks().size(), 0u); }

TEST(BucketChunks, NeverMovesABucketAsItGrows) {
  BucketChunks buckets;
  std::vector<Bucket*> places;
  for (uint64_t i = 0; i < 5000; ++i) {
    Bucket& bucket = buckets.PushBack();
    bucket.fingerprint = {i, i};
    places.push_back(&bucket);
  }

  ASSERT_EQ(buckets.size(), 5000u);
  for (uint32_t i = 0; i < 5000; ++i) {
    ASSERT_EQ(&buckets[i], places[i]);
    ASSERT_EQ(buckets[i].fingerprint, (Fingerprint{i, i}));
  }
}

TEST(BucketChunks, ABucketIsUntouchedAlsoWhereAnotherLay) {
  BucketChunks buckets;
  buckets.PushBack().fingerprint = {1, 2};
  buckets.PushBack().fingerprint = {3, 4};
  buckets.PopBack();

  EXPECT_EQ(buckets.PushBack().fingerprint, Fingerprint());
  EXPECT_EQ(buckets[0].fingerprint, (Fingerprint{1, 2}));
}

TEST(BucketChunks, KeepsTheRestThroughRandomGrowthAndShrinking) {
  std::mt19937 random(1);
  BucketChunks buckets;
  std::vector<uint64_t> model;
  for (int i = 0; i < 20'000; ++i) {
    const bool grow = random() % 100 < (i / 2000 % 2 == 0 ? 80U : 25U);
    if (grow || model.empty()) {
      model.push_back(random());
      buckets.PushBack().fingerprint = {model.back(), 0};
    } else {
      model.pop_back();
      buckets.PopBack();
    }
    ASSERT_EQ(buckets.size(), model.size());
    if (model.empty()) continue;
    const auto any = static_cast<uint32_t>(random() % model.size());
    ASSERT_EQ(buckets[any].fingerprint.hi, model[any]);
    ASSERT_EQ(buckets[buckets.size() - 1].fingerprint.hi, model.back());
  }
}

TEST(BucketChunks, CanBeEmptiedAndFilledAgain) {
  BucketChunks buckets;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 1000; ++i) buckets.PushBack();
    while (buckets.size() > 0) buckets.PopBack();
    if (round == 1) {
      EXPECT_EQ(buckets.TakeSpare().size(), 7u);
    }
  }
  EXPECT_EQ(buckets.size(), 0u);
}

TEST(BucketChunks, GivesOutTheMemoryBeyondItsEndButForOneChunk) {
  BucketChunks buckets;
  EXPECT_TRUE(buckets.TakeSpare().empty());
  // Chunks of 8, 16 and 32.
  for (int i = 0; i < 56; ++i) buckets.PushBack();
  const auto shrink_to = [&](uint32_t size) {
    while (buckets.size() > size) buckets.PopBack();
    return buckets.TakeSpare().size();
  };

  EXPECT_EQ(shrink_to(56), 0u);
  EXPECT_EQ(shrink_to(25), 0u);
  EXPECT_EQ(shrink_to(24), 0u);  // the third is empty, the second full
  EXPECT_EQ(shrink_to(17), 0u);
  EXPECT_EQ(shrink_to(16), 1u);  // half full
  EXPECT_EQ(shrink_to(5), 0u);
  EXPECT_EQ(shrink_to(4), 1u);
  EXPECT_EQ(shrink_to(1), 0u);
  EXPECT_EQ(shrink_to(0), 1u);
}

}  // namespace
}  // namespace tollgate
