#include "server/rules/convert.h"

#include <random>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/base/clock.h"
#include "server/limiter/limiter.h"
#include "server/rules/rule_file.h"

namespace tollgate {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<Rule> RulesOf(const std::string& yaml) {
  LoadedRules loaded = ParseRules(yaml, "r.yaml");
  EXPECT_EQ(ToStatus(loaded.errors).message(), "") << yaml;
  return std::move(loaded.rules);
}

std::string Converted(const std::string& descriptors) {
  return ToNativeYaml(
      RulesOf(absl::StrCat("domain: d\ndescriptors:\n", descriptors)));
}

constexpr char kLimit[] = "rate_limit: {unit: minute, requests_per_unit: 2}";

TEST(Convert, PrintsWhatNativeRulesCanSay) {
  const std::string native = Converted(absl::StrCat(
      "- {key: user, ", kLimit, "}\n- {key: tenant, value: acme, descriptors: ",
      "[{key: path, value: '/a\"*', shadow_mode: true, rate_limit: ",
      "[{unit: second, requests_per_unit: 5}, {unit: hour, "
      "requests_per_unit: 100, unit_multiplier: 6}]}]}\n"));
  EXPECT_THAT(native, HasSubstr(R"(domain: "d"
rules:
  - name: "user"
    key: ["user"]
    limit: [2/minute]
  - name: "tenant_acme.path_/a\"*"
    match: {"tenant": "acme", "path": "/a\"*"}
    key: ["path"]
    limit: [5/second, 100/6h]
    mode: shadow
)"));
  EXPECT_THAT(native, Not(HasSubstr("differs")));
  EXPECT_EQ(RulesOf(native).size(), 2u);
}

TEST(Convert, ASharedWildcardIsOneBucket) {
  EXPECT_THAT(
      Converted(absl::StrCat("- {key: k, value: 'a*', share_threshold: true, ",
                             kLimit, "}\n")),
      HasSubstr("match: {\"k\": \"a*\"}\n    key: []\n"));
}

TEST(Convert, SaysWhatItCannotSay) {
  const std::string native = Converted(absl::StrCat(
      "- {key: k, ", kLimit, "}\n- {key: k, value: 'a*', ", kLimit,
      "}\n- {key: k, value: ab, descriptors: [{key: j, ", kLimit,
      "}]}\n- {key: q, quota_mode: true, ", kLimit,
      "}\n- {key: z, rate_limit: {unit: day}}\n- {key: 'w*', ", kLimit,
      "}\n- {key: r, rate_limit: {unit: day, requests_per_unit: 1, replaces: "
      "[{name: n}]}}\n- {key: n, value: v}\n- {key: u, rate_limit: "
      "{unlimited: true}}\n"));
  EXPECT_THAT(
      native,
      AllOf(HasSubstr("differs: k: there k_a*, k_ab.j"),
            HasSubstr("differs: k: here it also applies to descriptors of "
                      "k_ab.j"),
            HasSubstr("differs: k_a*: there k_ab.j"),
            HasSubstr("differs: q: quota_mode"),
            HasSubstr("differs: z: left out: 0 per unit"),
            HasSubstr("differs: w*: left out: native rules have no wildcard"),
            HasSubstr("differs: r: replaces n"), HasSubstr("# n_v: no limit"),
            HasSubstr("# u: unlimited")));
  EXPECT_THAT(native, Not(HasSubstr("differs: k_ab.j")));
  RulesOf(native);
}

TEST(Convert, AFileWithoutALimitIsStillANativeFile) {
  EXPECT_THAT(Converted("- {key: k}\n"), HasSubstr("rules: []\n"));
}

// Few keys and values, so that nodes often get in each other's way.
class RandomFile {
 public:
  explicit RandomFile(uint32_t seed) : random_(seed) {}

  std::string Descriptors(int depth) {
    std::string list = "[";
    std::vector<std::string> seen;
    const uint32_t count = 1 + Below(3);
    for (uint32_t i = 0; i < count; ++i) {
      const std::string key(1, static_cast<char>('a' + Below(4)));
      const std::string value = kValues[Below(std::size(kValues))];
      const std::string composite = absl::StrCat(key, "_", value);
      if (std::find(seen.begin(), seen.end(), composite) != seen.end()) {
        continue;
      }
      seen.push_back(composite);
      absl::StrAppend(&list, list.size() > 1 ? ", " : "", "{key: ", key,
                      ", value: '", value, "'");
      if (Below(3) > 0) {
        absl::StrAppend(&list,
                        ", rate_limit: {unit: minute, requests_per_unit: ",
                        1 + Below(3), "}");
      }
      if (depth > 0 && Below(3) == 0) {
        absl::StrAppend(&list, ", descriptors: ", Descriptors(depth - 1));
      }
      list += "}";
    }
    return list + "]";
  }
  uint32_t Below(uint32_t end) {
    return std::uniform_int_distribution<uint32_t>(0, end - 1)(random_);
  }

 private:
  static constexpr const char* kValues[] = {"", "x", "xy", "x*", "*y"};
  std::mt19937 random_;
};

TEST(Convert, AFileWithoutADifferenceDecidesTheSame) {
  constexpr const char* kAsked[] = {"", "x", "xy", "y", "xyz", "zy"};
  int compared = 0;
  for (uint32_t seed = 0; seed < 600; ++seed) {
    RandomFile random(seed);
    const std::string envoy =
        absl::StrCat("domain: d\ndescriptors: ", random.Descriptors(2), "\n");
    const std::vector<Rule> rules = RulesOf(envoy);
    const std::string native = ToNativeYaml(rules);
    std::vector<Rule> converted = RulesOf(native);
    if (absl::StrContains(native, "differs") || converted.empty()) continue;
    ++compared;
    FakeClock clock(1'700'000'000'000'000'000);
    Limiter theirs(clock);
    Limiter ours(clock);
    ASSERT_TRUE(theirs.SetRules(*RuleSet::Create(rules)).ok());
    ASSERT_TRUE(ours.SetRules(*RuleSet::Create(std::move(converted))).ok());
    for (int i = 0; i < 200; ++i) {
      const Rule& rule =
          rules[random.Below(static_cast<uint32_t>(rules.size()))];
      std::vector<Entry> entries;
      for (const NodeStep& step : rule.node->path) {
        entries.push_back({step.key, kAsked[random.Below(std::size(kAsked))]});
      }
      if (entries.empty()) continue;
      const Descriptor descriptor(entries);
      const Request request{"d", {&descriptor, 1}, 1 + random.Below(3)};
      const Decision a = theirs.Decide(request);
      const Decision b = ours.Decide(request);
      ASSERT_EQ(a.outcome, b.outcome) << "seed " << seed << "\n"
                                      << envoy << native;
      ASSERT_EQ(a.retry_after_ns, b.retry_after_ns) << seed;
      clock.Advance(int64_t{random.Below(20'000)} * 1'000'000);
    }
  }
  EXPECT_GT(compared, 60) << "of 600 files";
}

}  // namespace
}  // namespace tollgate
