#include "server/limiter/space_saving.h"

#include <cstdint>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tollgate {
namespace {

using ::testing::ElementsAre;

constexpr int64_t kHalfLife = 1000;
constexpr int64_t kStart = 1'000'000;  // a multiple of the half-life

void Count(SpaceSaving& sketch, uint64_t id, int times = 1,
           int64_t now_ns = kStart) {
  for (int i = 0; i < times; ++i) {
    sketch.Add({id, id}, now_ns, /*shadow=*/false,
               [&](std::string& text) { text = "key" + std::to_string(id); });
  }
}

// "TEXT COUNT-ERROR" of every key, the most counted first.
std::vector<std::string> All(const SpaceSaving& sketch) {
  std::vector<std::string> all;
  for (const HeavyKey& key : sketch.Top(SIZE_MAX)) {
    all.push_back(key.text + " " + std::to_string(key.count) + "-" +
                  std::to_string(key.error));
  }
  return all;
}

TEST(SpaceSaving, CountsExactlyWhileThereIsRoom) {
  SpaceSaving sketch(3, kHalfLife, kStart);
  EXPECT_THAT(All(sketch), ElementsAre());

  Count(sketch, 1);
  Count(sketch, 2, 3);
  Count(sketch, 3, 2);

  EXPECT_THAT(All(sketch), ElementsAre("key2 3-0", "key3 2-0", "key1 1-0"));
  EXPECT_EQ(sketch.total(), 6u);
  EXPECT_EQ(sketch.Top(1).size(), 1u);
  EXPECT_EQ(sketch.Top(0).size(), 0u);
}

TEST(SpaceSaving, GivesANewKeyTheCountOfTheLeastCountedAsItsError) {
  SpaceSaving sketch(2, kHalfLife, kStart);
  Count(sketch, 1, 5);
  Count(sketch, 2, 3);

  Count(sketch, 3);

  EXPECT_THAT(All(sketch), ElementsAre("key1 5-0", "key3 4-3"));
  EXPECT_EQ(sketch.total(), 9u);
}

TEST(SpaceSaving, HalvesEveryCountAtTheHalfLifeAndNotBefore) {
  SpaceSaving sketch(2, kHalfLife, kStart);
  Count(sketch, 1, 5);
  Count(sketch, 2, 3);
  Count(sketch, 3);  // counted 4, error 3

  sketch.Fade(kStart + kHalfLife - 1);
  EXPECT_THAT(All(sketch), ElementsAre("key1 5-0", "key3 4-3"));
  sketch.Fade(kStart + kHalfLife);
  EXPECT_THAT(All(sketch), ElementsAre("key1 2-0", "key3 2-2"));
  EXPECT_EQ(sketch.total(), 4u);
  sketch.Fade(kStart + kHalfLife);
  EXPECT_EQ(sketch.total(), 4u) << "halved twice at one instant";
}

TEST(SpaceSaving, ForgetsAKeyWhoseCountFadesToNothing) {
  SpaceSaving sketch(3, kHalfLife, kStart);
  Count(sketch, 1);
  Count(sketch, 2, 2);
  Count(sketch, 3);

  sketch.Fade(kStart + kHalfLife);
  EXPECT_THAT(All(sketch), ElementsAre("key2 1-0"));
  Count(sketch, 1, 2, kStart + kHalfLife);
  EXPECT_THAT(All(sketch), ElementsAre("key1 2-0", "key2 1-0"));
  sketch.Fade(kStart + 1'000'000 * kHalfLife);  // more halvings than bits
  EXPECT_THAT(All(sketch), ElementsAre());
  EXPECT_EQ(sketch.total(), 0u);
  EXPECT_EQ(sketch.size(), 0u);
}

TEST(SpaceSaving, FadesNothingWhenTimeGoesBack) {
  SpaceSaving sketch(2, kHalfLife, kStart);
  Count(sketch, 1, 4, kStart + kHalfLife);
  Count(sketch, 1, 4, kStart);

  EXPECT_THAT(All(sketch), ElementsAre("key1 8-0"));
  EXPECT_EQ(sketch.last_ns(), kStart + kHalfLife);
  EXPECT_EQ(sketch.Top(1)[0].last_ns, kStart + kHalfLife);
}

TEST(SpaceSaving, AsksForTheTextOfAKeyOnlyWhenItIsNew) {
  SpaceSaving sketch(1, kHalfLife, kStart);
  int asked = 0;
  const auto write = [&](std::string& text) {
    EXPECT_EQ(text, "");
    text = "x";
    ++asked;
  };
  sketch.Add({1, 1}, kStart, /*shadow=*/true, write);
  EXPECT_TRUE(sketch.Top(1)[0].shadow);
  sketch.Add({1, 1}, kStart, /*shadow=*/false, write);
  EXPECT_FALSE(sketch.Top(1)[0].shadow);
  EXPECT_EQ(asked, 1);
  sketch.Add({2, 2}, kStart, /*shadow=*/false, write);
  EXPECT_EQ(asked, 2);
  sketch.Add({1, 1}, kStart, /*shadow=*/false, write);
  EXPECT_EQ(asked, 3);
}

}  // namespace
}  // namespace tollgate
