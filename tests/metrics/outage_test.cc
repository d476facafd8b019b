#include "gtest/gtest.h"
#include "server/limiter/decision.h"
#include "server/limiter/rule_set.h"
#include "server/metrics/metrics.h"
#include "tests/metrics/metric_text.h"

namespace tollgate {
namespace {

TEST(Metrics, CountsWhatOutagePoliciesDecideOnceARule) {
  Counted counted;
  counted.SetRules({PerUser("per-user", 2), PerUser("other", 2)});
  const auto& rules = counted.limiter.rules()->domains()[0]->rules;
  RuleStatus by_policy;
  by_policy.rule = rules[0].id;
  by_policy.outage = true;
  RuleStatus by_store;
  by_store.rule = rules[1].id;
  Decision decision;
  decision.domain = rules[0].id->domain;
  decision.statuses = {by_policy, by_policy, by_store};
  counted.metrics->OnDecision(decision);
  EXPECT_EQ(counted.Value("tollgate_outage_decisions_total{domain=\"shop\","
                          "rule=\"per-user\"}"),
            1);
  EXPECT_EQ(counted.Value("tollgate_outage_decisions_total{domain=\"shop\","
                          "rule=\"other\"}"),
            0);
  EXPECT_EQ(counted.metrics->outage_count(), 1U);
  decision.peek = true;
  counted.metrics->OnDecision(decision);
  EXPECT_EQ(counted.metrics->outage_count(), 1U);
}

}  // namespace
}  // namespace tollgate
