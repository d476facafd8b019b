#include "server/metrics/store_families.h"

#include <limits>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/metrics/metrics.h"
#include "tests/metrics/metric_text.h"

namespace tollgate {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string Text(const StoreTotals* store) {
  return MakeMetrics({})->Serialize({.store = store});
}

TEST(StoreFamilies, AreOfAStoreAlone) {
  EXPECT_THAT(Text(nullptr), Not(HasSubstr("tollgate_store_")));
  const StoreTotals store;
  EXPECT_THAT(Text(&store), HasSubstr("tollgate_store_duration_seconds"));
}

TEST(StoreFamilies, CountErrorsByOperationAndByCause) {
  const StoreTotals store{.errors = {{"take", 3}, {"refund", 0}},
                          .run_errors = {{"timeout", 4}, {"oom", 0}}};
  const std::string text = Text(&store);
  EXPECT_EQ(ValueOf(text, "tollgate_store_errors_total{operation=\"take\"}"),
            3);
  // Series begin at zero, so that a rate has their first error too.
  EXPECT_EQ(ValueOf(text, "tollgate_store_errors_total{operation=\"refund\"}"),
            0);
  EXPECT_EQ(ValueOf(text, "tollgate_store_run_errors_total{error=\"timeout\"}"),
            4);
  EXPECT_EQ(ValueOf(text, "tollgate_store_run_errors_total{error=\"oom\"}"), 0);
  EXPECT_THAT(text, HasSubstr("# TYPE tollgate_store_errors_total counter"));
}

TEST(StoreFamilies, AddUpTheBucketsOfDurations) {
  const StoreTotals store{
      .durations = {{0.001, 5},
                    {0.01, 2},
                    {std::numeric_limits<double>::infinity(), 1}},
      .total_seconds = 1.5};
  const std::string text = Text(&store);
  const std::string name = "tollgate_store_duration_seconds";
  EXPECT_EQ(ValueOf(text, name + "_bucket{le=\"0.001\"}"), 5);
  EXPECT_EQ(ValueOf(text, name + "_bucket{le=\"0.01\"}"), 7);
  EXPECT_EQ(ValueOf(text, name + "_bucket{le=\"+Inf\"}"), 8);
  EXPECT_EQ(ValueOf(text, name + "_count"), 8);
  EXPECT_EQ(ValueOf(text, name + "_sum"), 1.5);
}

}  // namespace
}  // namespace tollgate
