#include "server/limiter/decision.h"

#include "gtest/gtest.h"

namespace tollgate {
namespace {

TEST(OutcomeName, IsTheWordOfTheMetricsAndAnswers) {
  EXPECT_EQ(OutcomeName(Outcome::kAllowed), "allowed");
  EXPECT_EQ(OutcomeName(Outcome::kRefused), "refused");
  EXPECT_EQ(OutcomeName(Outcome::kImpossible), "impossible");
  EXPECT_EQ(OutcomeName(Outcome::kExpired), "expired");
}

TEST(Decision, AllowsWithoutStatusesByDefault) {
  const Decision decision;

  EXPECT_TRUE(decision.allowed());
  EXPECT_EQ(decision.retry_after_ns, 0);
  EXPECT_EQ(decision.domain, nullptr);
  EXPECT_TRUE(decision.statuses.empty());
}

TEST(Decision, IsAllowedOnlyIfItsOutcomeSaysSo) {
  for (const Outcome outcome :
       {Outcome::kRefused, Outcome::kImpossible, Outcome::kExpired}) {
    Decision decision;
    decision.outcome = outcome;
    EXPECT_FALSE(decision.allowed()) << OutcomeName(outcome);
  }
}

}  // namespace
}  // namespace tollgate
