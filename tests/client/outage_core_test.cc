// A client's decisions while its service is gone, by the rules that it pushed.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/client_core.h"
#include "client/outage_refusal.h"
#include "gtest/gtest.h"
#include "tests/client/fake_transport.h"

namespace tollgate::client {
namespace {

Rule PerUser(const std::string& algorithm, uint64_t tokens) {
  Rule rule;
  rule.domain = "shop";
  rule.name = "per-user";
  rule.key = {{{{"user", std::nullopt}}}};
  rule.limits = {*Limit::Create(tokens, absl::Seconds(1))};
  rule.algorithm = FindAlgorithm(algorithm);
  return rule;
}

// A client of two, with its rules.
struct Pushed : FakeClient {
  explicit Pushed(Rule rule, const ClientOptions& options = {})
      : FakeClient(options) {
    rules->OnPolicy({"0123abcd", 2, std::vector<Rule>{std::move(rule)}});
  }
};

TEST(OutageCore, KeepsTheRulesOfADomainAndTheOptionsForOthers) {
  ClientOptions options;
  options.outage_policy = OutagePolicy::kRefuse;
  Pushed fake(PerUser("token_bucket", 4), options);
  fake.AnswerAll(absl::UnavailableError("gone"));
  for (int i = 0; i < 2; ++i) {
    const Decision decision = fake.core->ShouldAllow(AnaSearches());
    EXPECT_TRUE(decision.allowed);
    EXPECT_EQ(decision.source, Source::kBackstop);
    EXPECT_EQ(decision.statuses[0].rule, "per-user");
    EXPECT_EQ(decision.error.code(), absl::StatusCode::kUnavailable);
  }
  EXPECT_FALSE(fake.core->ShouldAllow(AnaSearches()).allowed);
  Request other = AnaSearches();
  other.domain = "mail";
  EXPECT_EQ(fake.core->ShouldAllow(other).source, Source::kOutagePolicy);
  const ClientStats stats = fake.core->stats();
  EXPECT_EQ(stats.backstop, 3);
  EXPECT_EQ(stats.backstop_refused, 1);
  EXPECT_EQ(stats.outage_policy, 1);
  EXPECT_EQ(stats.outage_policy_refused, 1);
  EXPECT_EQ(stats.policy.hash, "0123abcd");
  EXPECT_EQ(stats.policy.clients, 2);
}

TEST(OutageCore, ARuleThatRefusesSaysThatThePolicyDid) {
  Rule login = PerUser("token_bucket", 1000);
  login.algorithm = &OutageRefusal();
  Pushed fake(login);
  fake.AnswerAll(absl::UnavailableError("gone"));
  const Decision decision = fake.core->ShouldAllow(AnaSearches());
  EXPECT_EQ(decision.outcome, Outcome::kRefused);
  EXPECT_EQ(decision.source, Source::kOutagePolicy);
  EXPECT_EQ(decision.statuses[0].rule, "per-user");
}

TEST(OutageCore, KeepsTheRulesForCallsThatAreCalledBack) {
  Pushed fake(PerUser("token_bucket", 2));
  std::vector<Decision> answers;
  for (int i = 0; i < 2; ++i) {
    // The request is gone when the answer comes.
    fake.core->ShouldAllowAsync(AnaSearches(), [&](Decision decision) {
      answers.push_back(std::move(decision));
    });
  }
  fake.wire.AnswerOldest(absl::UnavailableError("gone"));
  fake.wire.AnswerOldest(absl::DeadlineExceededError("late"));
  ASSERT_EQ(answers.size(), 2);
  EXPECT_TRUE(answers[0].allowed);
  EXPECT_FALSE(answers[1].allowed);
  EXPECT_EQ(answers[1].statuses[0].rule, "per-user");
}

TEST(OutageCore, WhatTheServiceGrantedIsSpentAndWhatItRefusedIsNot) {
  Pushed fake(PerUser("token_bucket", 20));
  fake.AnswerAll(absl::OkStatus());
  for (int i = 0; i < 6; ++i) fake.core->ShouldAllow(AnaSearches());
  Decision refused;
  refused.allowed = false;
  refused.outcome = Outcome::kRefused;
  fake.AnswerAll(absl::OkStatus(), refused);
  fake.core->ShouldAllow(AnaSearches());
  fake.AnswerAll(absl::UnavailableError("gone"));
  int passed = 0;
  while (fake.core->ShouldAllow(AnaSearches()).allowed) ++passed;
  EXPECT_EQ(passed, 4) << "of ten, six were granted";
}

TEST(OutageCore, ReleasesHereTheSlotsThatAreHeldHere) {
  Pushed fake(PerUser("concurrency", 2));
  fake.AnswerAll(absl::UnavailableError("gone"));
  const Decision held = fake.core->ShouldAllow(AnaSearches());
  ASSERT_TRUE(held.allowed);
  EXPECT_FALSE(fake.core->ShouldAllow(AnaSearches()).allowed);
  const uint64_t sends = fake.sends();
  fake.core->Release(held.ticket);
  EXPECT_EQ(fake.sends(), sends);
  EXPECT_TRUE(fake.core->ShouldAllow(AnaSearches()).allowed);
}

}  // namespace
}  // namespace tollgate::client
