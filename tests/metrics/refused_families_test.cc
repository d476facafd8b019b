#include "server/metrics/refused_families.h"

#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/limiter/refused_keys.h"
#include "server/metrics/metrics.h"
#include "tests/metrics/metric_text.h"

namespace tollgate {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr int64_t kNowNs = 1'700'000'000'000'000'000;
constexpr char kLogin[] =
    "tollgate_top_refused_ratio{domain=\"shop\",rule=\"login\"}";

const DomainId kShop{0, "shop"};
const RuleId kRule{0, &kShop, "login"};

HeavyKey Key(std::string text, uint64_t count, uint64_t error = 0) {
  HeavyKey key;
  key.text = std::move(text);
  key.count = count;
  key.error = error;
  return key;
}

RefusedKeysReport Report(uint64_t total, std::vector<HeavyKey> keys) {
  RefusedKeysReport report;
  report.rules = {{&kRule, total, kNowNs, std::move(keys)}};
  return report;
}

std::string Text(const RefusedKeysReport* report) {
  return MakeMetrics({})->Serialize({.refused = report});
}

TEST(RefusedFamilies, TellTheShareOfTheMostRefusedKeyAndNotItsName) {
  RefusedKeys keys({.mode = RefusedKeysOptions::Mode::kOn});
  const auto refuse = [&keys](const char* user, uint64_t id) {
    keys.Add(kRule, Fingerprint{id, id}, kNowNs, /*shadow=*/false,
             [user](std::string& text) { text = user; });
  };
  for (int i = 0; i < 3; ++i) refuse("ana", 1);
  refuse("bob", 2);
  const RefusedKeysReport report =
      keys.Report({.max_rules = 10, .max_keys = 1}, kNowNs);
  const std::string text = Text(&report);
  EXPECT_EQ(ValueOf(text, kLogin), 0.75);
  EXPECT_THAT(text, Not(HasSubstr("ana")));
}

TEST(RefusedFamilies, CountOnlyWhatIsCertain) {
  const RefusedKeysReport report = Report(10, {Key("user=ana", 5, 2)});
  EXPECT_EQ(ValueOf(Text(&report), kLogin), 0.3);
}

TEST(RefusedFamilies, LeaveOutRulesWithOneBucketForAll) {
  const RefusedKeysReport report = Report(10, {Key("", 10)});
  EXPECT_EQ(ValueOf(Text(&report), kLogin), kNoSeries);
}

TEST(RefusedFamilies, LeaveOutRulesWhoseKeysHaveFaded) {
  const RefusedKeysReport nothing = Report(0, {});
  EXPECT_EQ(ValueOf(Text(&nothing), kLogin), kNoSeries);
  const RefusedKeysReport no_keys = Report(1, {});
  EXPECT_EQ(ValueOf(Text(&no_keys), kLogin), kNoSeries);
}

TEST(RefusedFamilies, AreNotThereIfKeysAreNotKept) {
  EXPECT_THAT(Text(nullptr), Not(HasSubstr("tollgate_top_refused_ratio")));
}

}  // namespace
}  // namespace tollgate
