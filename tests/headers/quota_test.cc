#include "server/headers/quota.h"

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "server/base/clock.h"
#include "server/limiter/limiter.h"

namespace tollgate {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;

Rule MakeRule(const char* name, uint64_t tokens, Mode mode = Mode::kEnforce) {
  Rule rule;
  rule.domain = "shop";
  rule.name = name;
  rule.limits = {Limit::Create(tokens, absl::Minutes(1), tokens * 2).value()};
  rule.algorithm = FindAlgorithm("token_bucket");
  rule.mode = mode;
  return rule;
}

Rule MakeAllowList() {
  Rule rule = MakeRule("staff", 1);
  rule.limits.clear();
  rule.unlimited = true;
  rule.skips = {"skipped"};
  return rule;
}

struct Asked {
  FakeClock clock{kSecondNs};
  Limiter limiter{clock};

  explicit Asked(std::vector<Rule> rules) {
    EXPECT_TRUE(
        limiter.SetRules(RuleSet::Create(std::move(rules)).value()).ok());
  }
  Decision Ask(uint64_t cost) {
    const Entry entry{"user", "ana"};
    const Descriptor descriptor(&entry, 1);
    return limiter.Decide(
        {.domain = "shop", .descriptors = {&descriptor, 1}, .cost = cost});
  }
};

TEST(Quota, IsWhatTheDecisionSaysOfARule) {
  Asked asked({MakeRule("per-user", 60)});
  asked.Ask(119);
  const Decision decision = asked.Ask(3);

  const std::vector<Quota> quotas = QuotasOf(decision);
  ASSERT_EQ(quotas.size(), 1U);
  EXPECT_EQ(quotas[0].name, "per-user");
  EXPECT_EQ(quotas[0].tokens, 60U);
  EXPECT_EQ(quotas[0].period_ns, 60 * kSecondNs);
  EXPECT_EQ(quotas[0].burst, 120U);
  EXPECT_EQ(quotas[0].remaining, 1U);
  EXPECT_EQ(quotas[0].reset_after_ns, 119 * kSecondNs);
  EXPECT_EQ(quotas[0].retry_after_ns, 2 * kSecondNs);
  EXPECT_EQ(quotas[0].outcome, Outcome::kRefused);
}

TEST(Quota, IsOfEnforcedLimitsAloneInTheirOrder) {
  Asked asked({MakeRule("first", 10), MakeRule("trial", 1, Mode::kShadow),
               MakeRule("second", 5), MakeRule("skipped", 1), MakeAllowList()});

  const std::vector<Quota> quotas = QuotasOf(asked.Ask(1));
  ASSERT_EQ(quotas.size(), 2U);
  EXPECT_EQ(quotas[0].name, "first");
  EXPECT_EQ(quotas[1].name, "second");
}

TEST(Quota, OfAnUnmatchedRequestIsNone) {
  Asked asked({});
  EXPECT_TRUE(QuotasOf(asked.Ask(1)).empty());
}

}  // namespace
}  // namespace tollgate
