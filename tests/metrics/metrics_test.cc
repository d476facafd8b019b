#include "server/metrics/metrics.h"

#include <memory>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/base/clock.h"
#include "server/limiter/limiter.h"
#include "tests/metrics/metric_text.h"

namespace tollgate {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Metrics, ShowsZeroForEveryOutcomeOfARuleInForce) {
  Counted counted;
  counted.SetRules({PerUser("per-user", 2)});
  for (const char* outcome :
       {"allowed", "refused", "shadow_refused", "impossible"}) {
    EXPECT_EQ(counted.Decisions("per-user", outcome), 0) << outcome;
  }
  for (const char* outcome :
       {"allowed", "refused", "impossible", "unmatched"}) {
    EXPECT_EQ(counted.Requests("shop", outcome), 0) << outcome;
  }
  EXPECT_EQ(counted.Requests("_unknown", "unmatched"), 0);
}

TEST(Metrics, CountsExactlyWhatSeveralThreadsDecide) {
  Counted counted;
  counted.SetRules({PerUser("per-user", 1000)});
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&counted] {
      for (int i = 0; i < 500; ++i) counted.Ask("shop", "ana");
      for (int i = 0; i < 10; ++i) counted.Ask("elsewhere", "ana");
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(counted.Decisions("per-user", "allowed"), 1000);
  EXPECT_EQ(counted.Decisions("per-user", "refused"), 3000);
  EXPECT_EQ(counted.Requests("shop", "allowed"), 1000);
  EXPECT_EQ(counted.Requests("shop", "refused"), 3000);
  EXPECT_EQ(counted.Requests("_unknown", "unmatched"), 80);
}

TEST(Metrics, TellsOthersTheSameCounts) {
  Counted counted;
  counted.SetRules({PerUser("per-user", 2)});
  for (int i = 0; i < 5; ++i) counted.Ask("shop", "ana");
  counted.Ask("shop", "bob", 3);
  const RuleCounts counts = counted.metrics->rule_counts(
      *counted.limiter.rules()->domains()[0]->rules[0].id);
  EXPECT_EQ(counts.allowed, 2);
  EXPECT_EQ(counts.refused, 3);
  EXPECT_EQ(counts.impossible, 1);
  EXPECT_EQ(counts.shadow_refused, 0);
  EXPECT_EQ(counts.overflow, 0);
  // A rule that was never in force.
  EXPECT_EQ(counted.metrics->rule_counts(RuleId{.index = 99'999}).allowed, 0);
  counted.metrics->CountArrival();
  counted.metrics->CountArrival();
  counted.metrics->CountFinish(1000);
  counted.metrics->CountExpired();
  counted.metrics->CountInvalid();
  counted.metrics->CountWatchers(1);
  const ServiceCounts service = counted.metrics->service_counts();
  EXPECT_EQ(service.in_flight, 1);
  EXPECT_EQ(service.expired, 1);
  EXPECT_EQ(service.overload, 0);
  EXPECT_EQ(service.invalid, 1);
  EXPECT_EQ(service.watchers, 1);
  counted.metrics->SetStateRestored(7);
  counted.metrics->CountStateSaved(8);
  counted.metrics->CountStateSaveFailure();
  const StateCounts state = counted.metrics->state_counts();
  EXPECT_EQ(state.restored, 7);
  EXPECT_EQ(state.saves, 1);
  EXPECT_EQ(state.failures, 1);
  EXPECT_EQ(state.saved_at_ns, 8);
}

TEST(Metrics, ShowsWhatBecameOfTheStateFile) {
  Counted counted;
  const auto value = [&counted](const char* series) {
    return ValueOf(counted.metrics->Serialize({}), series);
  };
  EXPECT_EQ(value("tollgate_state_saves_total{result=\"success\"}"), 0);
  EXPECT_EQ(value("tollgate_state_saves_total{result=\"failure\"}"), 0);
  EXPECT_EQ(value("tollgate_state_restored_buckets"), 0);
  EXPECT_EQ(value("tollgate_state_saved_timestamp_seconds"), kNoSeries);
  counted.metrics->SetStateRestored(7);
  counted.metrics->CountStateSaved(1'700'000'000'500'000'000);
  counted.metrics->CountStateSaveFailure();
  counted.metrics->CountStateSaveFailure();
  EXPECT_EQ(value("tollgate_state_saves_total{result=\"success\"}"), 1);
  EXPECT_EQ(value("tollgate_state_saves_total{result=\"failure\"}"), 2);
  EXPECT_EQ(value("tollgate_state_restored_buckets"), 7);
  EXPECT_EQ(value("tollgate_state_saved_timestamp_seconds"), 1'700'000'000.5);
}

TEST(Metrics, CountsARuleAsAllowedOnlyIfTheWholeRequestWas) {
  Counted counted;
  counted.SetRules({PerUser("wide", 5), PerUser("narrow", 2)});
  for (int i = 0; i < 3; ++i) counted.Ask("shop", "ana");
  EXPECT_EQ(counted.Decisions("wide", "allowed"), 2);
  EXPECT_EQ(counted.Decisions("wide", "refused"), 0);
  EXPECT_EQ(counted.Decisions("narrow", "allowed"), 2);
  EXPECT_EQ(counted.Decisions("narrow", "refused"), 1);
}

TEST(Metrics, CountsARuleWithSeveralLimitsOnceARequest) {
  Counted counted;
  Rule rule = PerUser("both", 3);
  rule.limits.push_back(Limit::Create(3, absl::Minutes(1)).value());
  counted.SetRules({rule});
  for (int i = 0; i < 4; ++i) counted.Ask("shop", "ana");
  EXPECT_EQ(counted.Decisions("both", "allowed"), 3);
  EXPECT_EQ(counted.Decisions("both", "refused"), 1);
}

TEST(Metrics, CountsAnImpossibleCostApart) {
  Counted counted;
  counted.SetRules({PerUser("per-user", 2)});
  EXPECT_EQ(counted.Ask("shop", "ana", 2), Outcome::kAllowed);
  EXPECT_EQ(counted.Ask("shop", "ana", 3), Outcome::kImpossible);
  EXPECT_EQ(counted.Decisions("per-user", "allowed"), 1);
  EXPECT_EQ(counted.Decisions("per-user", "impossible"), 1);
  EXPECT_EQ(counted.Requests("shop", "impossible"), 1);
}

TEST(Metrics, CountsWhatAShadowRuleWouldHaveRefused) {
  Counted counted;
  Rule shadow = PerUser("trial", 1);
  shadow.mode = Mode::kShadow;
  counted.SetRules({shadow});
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(counted.Ask("shop", "ana"), Outcome::kAllowed);
  }
  EXPECT_EQ(counted.Decisions("trial", "allowed"), 1);
  EXPECT_EQ(counted.Decisions("trial", "shadow_refused"), 2);
  EXPECT_EQ(counted.Decisions("trial", "refused"), 0);
  EXPECT_EQ(counted.Requests("shop", "allowed"), 3);
}

TEST(Metrics, CountsARequestThatSharedARulesOverflowBucketOnceARule) {
  FakeClock clock{1'700'000'000'000'000'000};
  const std::unique_ptr<Metrics> metrics = MakeMetrics({});
  Limiter limiter(clock, {.max_buckets = 1, .observer = metrics.get()});
  Rule both = PerUser("both", 2);
  both.limits.push_back(Limit::Create(3, absl::Minutes(1)).value());
  ASSERT_TRUE(limiter.SetRules(*RuleSet::Create({both, PerUser("b", 2)})).ok());
  const auto ask = [&](absl::string_view user, uint64_t cost) {
    const Entry entry{"user", user};
    const Descriptor descriptor(&entry, 1);
    (void)limiter.Decide(Request{"shop", {&descriptor, 1}, cost});
  };
  const auto overflow = [&](absl::string_view rule) {
    return ValueOf(
        metrics->Serialize({}),
        absl::StrCat("tollgate_overflow_total{domain=\"shop\",rule=\"", rule,
                     "\"}"));
  };
  EXPECT_EQ(overflow("both"), 0);
  EXPECT_EQ(overflow("b"), 0);

  ask("ana", 1);  // the first limit has a bucket, the others have none
  EXPECT_EQ(overflow("both"), 1);
  EXPECT_EQ(overflow("b"), 1);
  ask("bob", 1);
  ask("bob", 0);  // a peek
  ask("bob", 1);  // refused
  EXPECT_EQ(overflow("both"), 3);
  EXPECT_EQ(overflow("b"), 3);
  EXPECT_EQ(metrics->overflow_count(), 6U);
}

TEST(Metrics, DoesNotCountPeeks) {
  Counted counted;
  counted.SetRules({PerUser("per-user", 1)});
  counted.Ask("shop", "ana", 0);
  counted.Ask("nowhere", "ana", 0);
  EXPECT_EQ(counted.Decisions("per-user", "allowed"), 0);
  EXPECT_EQ(counted.Requests("shop", "allowed"), 0);
  EXPECT_EQ(counted.Requests("_unknown", "unmatched"), 0);
}

TEST(Metrics, DoesNotCountARequestPastItsDeadline) {
  Counted counted;
  Decision expired;
  expired.outcome = Outcome::kExpired;
  counted.metrics->OnDecision(expired);
  EXPECT_EQ(counted.Requests("_unknown", "unmatched"), 0);
}

TEST(Metrics, DropsARemovedRuleAndGoesOnWhenItComesBack) {
  Counted counted;
  counted.SetRules({PerUser("a", 5), PerUser("b", 5)});
  counted.Ask("shop", "ana");
  counted.SetRules({PerUser("b", 5)});
  EXPECT_EQ(counted.Decisions("a", "allowed"), kNoSeries);
  EXPECT_EQ(counted.Decisions("b", "allowed"), 1);
  counted.SetRules({PerUser("a", 5), PerUser("b", 5)});
  EXPECT_EQ(counted.Decisions("a", "allowed"), 1);
  counted.Ask("shop", "ana");
  EXPECT_EQ(counted.Decisions("a", "allowed"), 2);
}

TEST(Metrics, CountsMoreRulesThanOneBlockHolds) {
  Counted counted;
  std::vector<Rule> rules;
  for (int i = 0; i < 2500; ++i) {
    rules.push_back(PerUser(absl::StrCat("r", i), 5));
    rules.back().match = {
        Condition{"user", {Pattern::Exact(absl::StrCat("u", i))}}};
  }
  counted.SetRules(rules);
  for (const char* user : {"u0", "u1023", "u1024", "u2499"}) {
    counted.Ask("shop", user);
  }
  for (const char* rule : {"r0", "r1023", "r1024", "r2499"}) {
    EXPECT_EQ(counted.Decisions(rule, "allowed"), 1) << rule;
  }
  EXPECT_EQ(counted.Decisions("r1", "allowed"), 0);
}

TEST(Metrics, EscapesNamesInLabels) {
  Counted counted;
  counted.SetRules({PerUser("a\"b\\c", 5)});
  counted.Ask("shop", "ana");
  EXPECT_EQ(counted.Decisions("a\\\"b\\\\c", "allowed"), 1);
}

TEST(Metrics, GivesADomainNamedLikeTheUnknownOneASingleSeries) {
  Counted counted;
  Rule rule = PerUser("per-user", 5);
  rule.domain = "_unknown";
  counted.SetRules({rule});
  counted.Ask("nowhere", "ana");
  const std::string text = counted.metrics->Serialize({});
  const std::string series =
      "tollgate_requests_total{domain=\"_unknown\",outcome=\"unmatched\"} ";
  EXPECT_THAT(text, HasSubstr(series + "1\n"));
  EXPECT_EQ(text.find(series), text.rfind(series));
}

TEST(Metrics, NeverShowsACallersText) {
  Counted counted;
  counted.SetRules({PerUser("per-user", 5)});
  counted.Ask("secret-domain", "secret-user");
  counted.Ask("shop", "secret-user");
  EXPECT_THAT(counted.metrics->Serialize({}), Not(HasSubstr("secret")));
}

TEST(Metrics, PutsADurationIntoTheBucketsThatHoldIt) {
  Counted counted;
  counted.metrics->CountFinish(10'000);       // just in the first
  counted.metrics->CountFinish(10'001);       // just in the second
  counted.metrics->CountFinish(-5);           // counts as 0
  counted.metrics->CountFinish(100'000'001);  // above all
  const std::string name = "tollgate_request_duration_seconds";
  EXPECT_EQ(counted.Value(name + "_bucket{le=\"1.0000000000000001e-05\"}") +
                counted.Value(name + "_bucket{le=\"1e-05\"}") - kNoSeries,
            2);
  EXPECT_EQ(counted.Value(name + "_bucket{le=\"0.10000000000000001\"}") +
                counted.Value(name + "_bucket{le=\"0.1\"}") - kNoSeries,
            3);
  EXPECT_EQ(counted.Value(name + "_bucket{le=\"+Inf\"}"), 4);
  EXPECT_EQ(counted.Value(name + "_count"), 4);
  EXPECT_NEAR(counted.Value(name + "_sum"), 0.100020002, 1e-9);
}

TEST(Metrics, ShowsCallsInFlight) {
  Counted counted;
  counted.metrics->CountArrival();
  counted.metrics->CountArrival();
  counted.metrics->CountFinish(1000);
  EXPECT_EQ(counted.Value("tollgate_in_flight_requests"), 1);
}

TEST(Metrics, ShowsTheClientsThatWatchThePolicy) {
  Counted counted;
  EXPECT_EQ(counted.Value("tollgate_policy_watchers"), 0);
  counted.metrics->CountWatchers(+1);
  counted.metrics->CountWatchers(+1);
  counted.metrics->CountWatchers(-1);
  EXPECT_EQ(counted.Value("tollgate_policy_watchers"), 1);
}

TEST(Metrics, CountsWhatTheServiceTurnsAway) {
  Counted counted;
  counted.metrics->CountExpired();
  counted.metrics->CountOverload();
  counted.metrics->CountOverload();
  counted.metrics->CountLongQueue();
  counted.metrics->CountInvalid();
  counted.metrics->CountReloadSuccess();
  counted.metrics->CountReloadFailure();
  EXPECT_EQ(counted.Value("tollgate_shed_total{reason=\"expired\"}"), 1);
  EXPECT_EQ(counted.Value("tollgate_shed_total{reason=\"overload\"}"), 2);
  EXPECT_EQ(counted.Value("tollgate_shed_total{reason=\"queue\"}"), 1);
  EXPECT_EQ(counted.metrics->service_counts().overload, 3U);  // of both kinds
  EXPECT_EQ(counted.Value("tollgate_invalid_requests_total"), 1);
  EXPECT_EQ(counted.Value("tollgate_rules_reloads_total{result=\"success\"}"),
            1);
  EXPECT_EQ(counted.Value("tollgate_rules_reloads_total{result=\"failure\"}"),
            1);
}

TEST(Metrics, ShowsHowAndWhenTheRulesWereLastLoaded) {
  Counted counted;
  counted.metrics->SetRulesHash("abc");
  counted.metrics->SetLastReload(ReloadResult::kSuccess,
                                 1'700'000'000'250'000'000);
  EXPECT_EQ(counted.Value("tollgate_rules_last_reload_successful"), 1);
  EXPECT_EQ(counted.Value("tollgate_rules_last_reload_timestamp_seconds"),
            1'700'000'000.25);
  counted.metrics->SetLastReload(ReloadResult::kFailure,
                                 1'700'000'001'000'000'000);
  EXPECT_EQ(counted.Value("tollgate_rules_last_reload_successful"), 0);
  EXPECT_EQ(counted.Value("tollgate_rules_last_reload_timestamp_seconds"),
            1'700'000'001);
}

TEST(Metrics, CountsEveryValueThatIsNoAddress) {
  Counted counted;
  Rule rule = PerUser("per-network", 5);
  rule.key = {KeyPart{{KeySource{"user", AddressPrefix{}}}}};
  counted.SetRules({rule});
  counted.Ask("shop", "192.0.2.1");
  EXPECT_EQ(counted.Value("tollgate_unparsable_addresses_total"), 0);
  counted.Ask("shop", "ana");
  counted.Ask("shop", "192.0.2.256");
  EXPECT_EQ(counted.Value("tollgate_unparsable_addresses_total"), 2);
  EXPECT_EQ(counted.Decisions("per-network", "allowed"), 1);
  EXPECT_EQ(counted.Requests("shop", "unmatched"), 2);
}

TEST(Metrics, CountsAnUnlimitedRuleAsAllowedAndWhatItSkipsNotAtAll) {
  Counted counted;
  Rule staff;
  staff.domain = "shop";
  staff.name = "staff";
  staff.match = {Condition{"user", {Pattern::Exact("root")}}};
  staff.unlimited = true;
  counted.SetRules({PerUser("per-user", 1), staff});
  for (int i = 0; i < 3; ++i) counted.Ask("shop", "root");
  EXPECT_EQ(counted.Decisions("staff", "allowed"), 3);
  EXPECT_EQ(counted.Decisions("per-user", "allowed"), 0);
  EXPECT_EQ(counted.Requests("shop", "allowed"), 3);
}

TEST(Metrics, ShowsTheHashOfTheRulesInForceOnly) {
  Counted counted;
  EXPECT_THAT(counted.metrics->Serialize({}),
              Not(HasSubstr("tollgate_rules_info")));
  counted.metrics->SetRulesHash("abc");
  counted.metrics->SetRulesHash("def");
  EXPECT_EQ(counted.Value("tollgate_rules_info{hash=\"def\"}"), 1);
  EXPECT_EQ(counted.Value("tollgate_rules_info{hash=\"abc\"}"), kNoSeries);
}

TEST(Metrics, ShowsTheProcessTheBuildAndTheBuckets) {
  const std::string text =
      MakeMetrics({.version = "1.2.3"})
          ->Serialize({.buckets = 7, .max_buckets = 8, .swept = 9});
  EXPECT_EQ(ValueOf(text, "tollgate_build_info{version=\"1.2.3\"}"), 1);
  EXPECT_EQ(ValueOf(text, "tollgate_buckets"), 7);
  EXPECT_EQ(ValueOf(text, "tollgate_max_buckets"), 8);
  EXPECT_EQ(ValueOf(text, "tollgate_buckets_swept_total"), 9);
  EXPECT_GT(ValueOf(text, "process_start_time_seconds"), 1.6e9);
  EXPECT_GT(ValueOf(text, "process_resident_memory_bytes"), 1e5);
  EXPECT_GE(ValueOf(text, "process_cpu_seconds_total"), 0);
  EXPECT_GE(ValueOf(text, "process_open_fds"), 3);
}

TEST(Metrics, IsReadWhileRulesChangeAndThreadsCount) {
  Counted counted;
  counted.SetRules({PerUser("a", 5)});
  std::thread counting([&counted] {
    for (int i = 0; i < 2000; ++i) counted.Ask("shop", "ana");
  });
  std::thread scraping([&counted] {
    for (int i = 0; i < 50; ++i) (void)counted.metrics->Serialize({});
  });
  for (int i = 0; i < 50; ++i) {
    counted.SetRules({PerUser("a", 5), PerUser(absl::StrCat("b", i), 5)});
  }
  counting.join();
  scraping.join();
  EXPECT_EQ(
      counted.Requests("shop", "allowed") + counted.Requests("shop", "refused"),
      2000);
}

}  // namespace
}  // namespace tollgate
