// How requests are decided under rules from Envoy-format files.
#include <cstdint>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/base/clock.h"
#include "server/limiter/fixed_window.h"
#include "tests/limiter/nodes.h"

namespace tollgate {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

class DescriptorRules : public ::testing::Test {
 protected:
  FakeClock clock_{kStart};
  Limiter limiter_{clock_};
};

// FIELD: two rules in one call; the narrow one refuses, the broad one must not
// be charged.
TEST_F(DescriptorRules, ARefusedRequestCostsItsOtherDescriptorsNothing) {
  const std::vector<Entry> group = {{"group", "bar"}};
  const std::vector<Entry> special = {{"special", "s1"}};
  for (const bool swapped : {false, true}) {
    SCOPED_TRACE(swapped);
    Limiter limiter(clock_);
    SetRules(limiter, {NodeAt({{"group", "bar"}}, {Written(10)}),
                       NodeAt({{"special", "s1"}}, {Written(3)})});
    for (int i = 0; i < 5; ++i) {
      const Decision decision =
          AskAll(limiter, swapped ? std::vector{special, group}
                                  : std::vector{group, special});
      EXPECT_EQ(decision.allowed(), i < 3);
      EXPECT_TRUE(decision.by_descriptor);
      ASSERT_THAT(decision.statuses, SizeIs(2));
      EXPECT_EQ(decision.statuses[1].descriptor, 1u);
      EXPECT_EQ(decision.statuses[swapped ? 1 : 0].rule->name, "group_bar");
    }
    for (int i = 0; i < 8; ++i) {
      const Decision decision = AskFor(limiter, group);
      EXPECT_EQ(decision.allowed(), i < 7);
      if (i == 0) {
        EXPECT_EQ(decision.statuses[0].remaining, 6u);
      }
    }
  }
}

TEST_F(DescriptorRules, AWalkTakesExactThenTheFirstWildcardThenTheKeyAlone) {
  SetRules(limiter_, {NodeAt({{"path", ""}}, {Written(100)}),
                      NodeAt({{"path", "/api/*"}}, {Written(2)}),
                      NodeAt({{"path", "/api/v1/*"}}, {Written(1)}),
                      NodeAt({{"path", "/api/v1/ping"}}, {Written(3)}),
                      NodeAt({{"host", "*.example.com"}}, {Written(1)}),
                      NodeAt({{"t", "x"}, {"path", "/n/*"}}, {Written(1)})});
  const auto per_unit = [&](const std::vector<Entry>& entries) -> uint64_t {
    const Decision decision = AskFor(limiter_, entries);
    if (decision.statuses.empty()) return 0;
    return ToEnvoyLimit(decision.statuses[0]).requests_per_unit;
  };
  EXPECT_EQ(per_unit({{"path", "/api/v1/ping"}}), 3u);
  EXPECT_EQ(per_unit({{"path", "/api/v1/zz"}}), 2u);
  EXPECT_EQ(per_unit({{"path", "/other"}}), 100u);
  EXPECT_EQ(per_unit({{"host", "a.example.com"}}), 1u);
  EXPECT_EQ(per_unit({{"host", "example.com"}}), 0u);
  EXPECT_EQ(per_unit({{"t", "x"}, {"path", "/n/1"}}), 1u);
  EXPECT_EQ(per_unit({{"t", "x"}, {"path", "/m/1"}}), 0u);
  EXPECT_EQ(per_unit({{"t", "x"}}), 0u);
  EXPECT_TRUE(AskFor(limiter_, {{"host", "b.example.com"}}).allowed())
      << "two values of one wildcard have separate buckets";
  EXPECT_FALSE(AskFor(limiter_, {{"host", "a.example.com"}}).allowed());
}

}  // namespace
}  // namespace tollgate
