// That the wait of a refused request of several descriptors, some of which want
// tokens of one bucket, is exact: random requests, with as many hits as fit.
#include <cstdint>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "server/base/clock.h"
#include "server/limiter/fixed_window.h"
#include "tests/limiter/nodes.h"
#include "tests/support/seeds.h"

namespace tollgate {
namespace {

struct RandomRequest {
  std::vector<std::vector<Entry>> descriptors;
  std::vector<DescriptorTerms> terms;
};

RandomRequest MakeRequest(std::mt19937& random) {
  const auto below = [&](uint32_t bound) { return random() % bound; };
  RandomRequest request;
  for (uint32_t n = 1 + below(4); n > 0; --n) {
    const char* const key = below(2) == 0 ? "user" : "site";
    request.descriptors.push_back({{key, below(2) == 0 ? "ana" : "bob"}});
    request.terms.push_back(Hits(below(4)));
  }
  return request;
}

class DescriptorWait : public ::testing::TestWithParam<uint32_t> {};

TEST_P(DescriptorWait, IsOverExactlyWhenTheSameRequestIsAllowed) {
  std::mt19937 random(SeedOf(GetParam()));
  FakeClock clock{kStart};
  Limiter limiter(clock);
  SetRules(limiter, {NodeAt({{"user", ""}}, {Written(7)}),
                     NodeAt({{"site", ""}}, {Written(9, LimitUnit::kHour)},
                            FixedWindow())});
  int refused = 0;
  for (int step = 0; step < 5'000; ++step) {
    clock.Advance(static_cast<int64_t>(random() % (20 * kSecond)));
    const RandomRequest request = MakeRequest(random);
    const auto ask = [&] {
      return AskOn(limiter, request.descriptors, request.terms);
    };
    const Decision decision = ask();
    if (decision.outcome != Outcome::kRefused) continue;
    ++refused;
    ASSERT_GT(decision.retry_after_ns, 0) << "step " << step;
    clock.Advance(decision.retry_after_ns - 1);
    ASSERT_EQ(ask().retry_after_ns, 1) << "step " << step;
    clock.Advance(1);
    ASSERT_TRUE(ask().allowed()) << "step " << step;
  }
  EXPECT_GT(refused, 500);
}

INSTANTIATE_TEST_SUITE_P(Seeds, DescriptorWait,
                         ::testing::Values(1, 2, kNewSeed));

}  // namespace
}  // namespace tollgate
