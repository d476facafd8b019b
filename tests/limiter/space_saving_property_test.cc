// The bounds that the sketch states, against exact counts.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "server/limiter/space_saving.h"
#include "tests/support/seeds.h"

namespace tollgate {
namespace {

constexpr int64_t kHalfLife = 1'000'000;

struct Stream {
  const char* name;
  size_t capacity;
  uint64_t keys;
  double zipf;   // the exponent; 0 is uniform
  int64_t step;  // of time, at most, from one key to the next
  uint32_t seed = kNewSeed;
};

// Key numbers from 0, with probability in proportion to (n + 1)^-exponent.
class Zipf {
 public:
  Zipf(uint64_t keys, double exponent) {
    std::vector<double> weights;
    for (uint64_t i = 0; i < keys; ++i) {
      weights.push_back(std::pow(static_cast<double>(i + 1), -exponent));
    }
    keys_ =
        std::discrete_distribution<uint64_t>(weights.begin(), weights.end());
  }
  uint64_t operator()(std::mt19937& random) { return keys_(random); }

 private:
  std::discrete_distribution<uint64_t> keys_;
};

// Every count there is, halved as the sketch says it halves its own.
class ExactCounts {
 public:
  void Fade(int64_t now_ns) {
    for (; age_ < now_ns / kHalfLife; ++age_) {
      total_ /= 2;
      for (auto& [key, count] : counts_) count /= 2;
      halved_ = true;
    }
  }
  void Add(uint64_t key) {
    ++total_;
    ++counts_[key];
  }
  [[nodiscard]] uint64_t Of(uint64_t key) const {
    const auto found = counts_.find(key);
    return found == counts_.end() ? 0 : found->second;
  }
  [[nodiscard]] const std::map<uint64_t, uint64_t>& all() const {
    return counts_;
  }
  [[nodiscard]] uint64_t total() const { return total_; }
  [[nodiscard]] bool halved() const { return halved_; }

 private:
  std::map<uint64_t, uint64_t> counts_;
  uint64_t total_ = 0;
  int64_t age_ = 0;
  bool halved_ = false;
};

void Compare(const SpaceSaving& sketch, const ExactCounts& exact,
             size_t capacity) {
  ASSERT_EQ(sketch.total(), exact.total());
  const uint64_t share = exact.total() / capacity;
  const uint64_t most_error =
      exact.halved() ? (exact.total() + 1) / capacity + 1 : share;
  const std::vector<HeavyKey> top = sketch.Top(SIZE_MAX);
  ASSERT_LE(top.size(), capacity);
  std::set<uint64_t> here;
  uint64_t sum = 0;
  uint64_t last = UINT64_MAX;
  for (const HeavyKey& key : top) {
    const uint64_t count = exact.Of(key.id.hi);
    ASSERT_EQ(key.text, std::to_string(key.id.hi));
    ASSERT_GT(key.count, 0u);
    ASSERT_LE(count, key.count);
    ASSERT_LE(key.error, key.count);
    ASSERT_LE(key.count - key.error, count);
    ASSERT_LE(key.error, most_error);
    ASSERT_LE(key.count, last) << "out of order";
    last = key.count;
    sum += key.count;
    ASSERT_TRUE(here.insert(key.id.hi).second) << "twice";
  }
  ASSERT_LE(sum, exact.total());
  for (const auto& [key, count] : exact.all()) {
    if (here.count(key) == 0) {
      ASSERT_LE(count, share) << key;
    }
  }
}

class SpaceSavingProperty : public ::testing::TestWithParam<Stream> {};

TEST_P(SpaceSavingProperty, EveryCountIsWithinTheBounds) {
  const Stream& stream = GetParam();
  std::mt19937 random(SeedOf(stream.seed));
  Zipf zipf(stream.keys, stream.zipf);
  SpaceSaving sketch(stream.capacity, kHalfLife, /*now_ns=*/0);
  ExactCounts exact;
  int64_t now_ns = 0;
  for (int i = 0; i < 100'000; ++i) {
    now_ns +=
        static_cast<int64_t>(random() % static_cast<uint64_t>(stream.step + 1));
    const uint64_t key = zipf(random);
    exact.Fade(now_ns);
    exact.Add(key);
    sketch.Add({key, 0}, now_ns, /*shadow=*/false,
               [&](std::string& text) { text = std::to_string(key); });
    if (i % 1000 == 0) {
      ASSERT_NO_FATAL_FAILURE(Compare(sketch, exact, stream.capacity)) << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Streams, SpaceSavingProperty,
    ::testing::Values(Stream{"OnePlace", 1, 50, 1.0, 100},
                      Stream{"UniformWithoutTime", 16, 200, 0.0, 0},
                      Stream{"UniformFading", 16, 200, 0.0, 50},
                      Stream{"ZipfWithoutTime", 32, 2000, 1.1, 0},
                      Stream{"ZipfFading", 32, 2000, 1.1, 200},
                      Stream{"ZipfFadingFast", 100, 2000, 0.8, 20'000},
                      Stream{"LongPauses", 8, 50, 0.5, 3'000'000},
                      Stream{"RoomForAll", 300, 200, 1.0, 100}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace tollgate
