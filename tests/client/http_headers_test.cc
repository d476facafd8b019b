#include "client/http_headers.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tollgate::client {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

RuleStatus Status(const std::string& rule, Outcome outcome) {
  RuleStatus status;
  status.rule = rule;
  status.tokens = 10;
  status.period = absl::Minutes(1);
  status.burst = 10;
  status.remaining = outcome == Outcome::kAllowed ? 4 : 0;
  status.reset_after = absl::Milliseconds(35'500);
  status.outcome = outcome;
  if (outcome == Outcome::kRefused) {
    status.retry_after = absl::Seconds(6) + absl::Nanoseconds(1);
  }
  return status;
}

std::vector<std::string> Lines(const Decision& decision,
                               HeaderProfile profile) {
  std::vector<std::string> lines;
  for (const HttpHeader& header : HttpHeaders(decision, profile)) {
    lines.push_back(header.name + ": " + header.value);
  }
  return lines;
}

Decision Refused() {
  Decision decision;
  decision.allowed = false;
  decision.outcome = Outcome::kRefused;
  decision.statuses = {Status("per-user", Outcome::kRefused)};
  decision.retry_after = decision.statuses[0].retry_after;
  return decision;
}

TEST(HttpHeaders, TellWhatIsLeftOfTheLimit) {
  Decision decision;
  decision.statuses = {Status("per-user", Outcome::kAllowed)};
  EXPECT_THAT(Lines(decision, HeaderProfile::kLegacy),
              ElementsAre("X-RateLimit-Limit: 10", "X-RateLimit-Remaining: 4",
                          "X-RateLimit-Reset: 36"));
  EXPECT_THAT(Lines(decision, HeaderProfile::kDraft10),
              ElementsAre("RateLimit-Policy: \"per-user\";q=10;w=60",
                          "RateLimit: \"per-user\";r=4;t=36"));
}

TEST(HttpHeaders, ARefusalSaysWhenToRetryRoundedUp) {
  EXPECT_THAT(Lines(Refused(), HeaderProfile::kLegacy),
              testing::Contains("Retry-After: 7"));
  EXPECT_THAT(Lines(Refused(), HeaderProfile::kDraft10),
              ElementsAre("RateLimit-Policy: \"per-user\";q=10;w=60",
                          "RateLimit: \"per-user\";r=0;t=7", "Retry-After: 7"));
}

TEST(HttpHeaders, DoNotTellOfShadowRulesAndAllowLists) {
  Decision decision;
  decision.statuses = {Status("shadow", Outcome::kRefused),
                       Status("staff", Outcome::kAllowed)};
  decision.statuses[0].shadow = true;
  decision.statuses[1].unlimited = true;
  EXPECT_THAT(Lines(decision, HeaderProfile::kLegacy), IsEmpty());
  EXPECT_THAT(Lines(decision, HeaderProfile::kDraft10), IsEmpty());
}

TEST(HttpHeaders, ARefusalWithoutARuleSaysWhenToRetryAllTheSame) {
  Decision decision = Refused();
  decision.statuses.clear();
  decision.retry_after = absl::Milliseconds(500);
  EXPECT_THAT(Lines(decision, HeaderProfile::kLegacy),
              ElementsAre("Retry-After: 1"));
}

TEST(HttpHeaders, NoWaitingHelpsTheImpossible) {
  Decision decision = Refused();
  decision.outcome = Outcome::kImpossible;
  decision.statuses = {Status("per-user", Outcome::kImpossible)};
  EXPECT_THAT(Lines(decision, HeaderProfile::kLegacy),
              testing::Not(testing::Contains(testing::HasSubstr("Retry"))));
  decision.statuses.clear();
  EXPECT_THAT(Lines(decision, HeaderProfile::kDraft10), IsEmpty());
}

}  // namespace
}  // namespace tollgate::client
