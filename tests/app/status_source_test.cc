#include "server/app/status_source.h"

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace tollgate {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int64_t kStartNs = 1'700'000'000'000'000'000;
constexpr int64_t kSecondNs = 1'000'000'000;

constexpr char kRules[] = R"(
domain: shop
rules:
  - {name: per-user, key: [user], limit: 2/day}
  - {name: trial, mode: shadow, key: [user], limit: 1/day}
  - {name: by-plan, key: [user], tier: {entry: plan, default: free,
     limits: {free: [10/day, 9/hour], gold: [100/day, 20/second]}}}
  - {name: office, match: {ip: "192.0.2.1"}, unlimited: true}
)";

struct Service {
  FakeClock clock{kStartNs};
  std::unique_ptr<Metrics> metrics = MakeMetrics({.version = "1"});
  Limiter limiter;
  RuleLoader loader{limiter, *metrics, clock};
  StatusSource source;

  explicit Service(
      RefusedKeysOptions refused = {.mode = RefusedKeysOptions::Mode::kOn},
      const std::string& rules = kRules)
      : limiter(clock, LimiterOptions{.max_buckets = 1000,
                                      .observer = metrics.get(),
                                      .refused_keys = refused}),
        source(
            {.version = "1.2.3",
             .max_in_flight = 7,
             .max_connections = 8,
             .readiness =
                 [] {
                   return Readiness{true, "ready"};
                 },
             .store = [] { return StoreStatus{.ok = false, .text = "gone"}; }},
            limiter, *metrics, loader, clock) {
    EXPECT_THAT(loader.Start(Parse(rules)), IsOk());
  }

  static LoadedRules Parse(const std::string& text) {
    return ParseRules(text, "rules.yaml");
  }

  void Ask(const std::string& user) {
    const Entry entry{"user", user};
    const Descriptor descriptor(&entry, 1);
    Request request;
    request.domain = "shop";
    request.descriptors = {&descriptor, 1};
    limiter.Decide(request);
  }
};

TEST(StatusSource, SaysHowTheProcessDoes) {
  Service service;
  service.metrics->CountConnections(+1);
  service.clock.Advance(5 * kSecondNs);
  const ServiceStatus status = service.source.Read();
  EXPECT_EQ(status.at_ns, kStartNs + 5 * kSecondNs);
  EXPECT_EQ(status.started_ns, kStartNs);
  EXPECT_EQ(status.version, "1.2.3");
  EXPECT_EQ(status.max_in_flight, 7);
  EXPECT_EQ(status.max_connections, 8);
  EXPECT_EQ(status.connections.open, 1);
  EXPECT_EQ(status.readiness.reason, "ready");
  EXPECT_FALSE(status.store.ok);
  EXPECT_EQ(status.store.text, "gone");
  EXPECT_EQ(status.memory.max_buckets, 1000);
  EXPECT_GT(status.memory.resident_bytes, 1'000'000);
  EXPECT_GT(status.memory.open_fds, 0);
  EXPECT_FALSE(status.has_state_file);
}

TEST(StatusSource, ShowsTheRulesInForceAsTheFilesHaveThem) {
  Service service;
  const ServiceStatus status = service.source.Read();
  ASSERT_THAT(status.rules, SizeIs(4));
  EXPECT_EQ(status.rules[0].rule, "per-user");
  EXPECT_EQ(status.rules[0].domain, "shop");
  EXPECT_EQ(status.rules[0].limits, "2/day");
  EXPECT_EQ(status.rules[0].mode, "enforce");
  EXPECT_EQ(status.rules[1].mode, "shadow");
  EXPECT_EQ(status.rules[2].limits,
            "free: 10/day, 9/hour; gold: 100/day, 20/second");
  EXPECT_EQ(status.rules[3].limits, "unlimited");
  EXPECT_EQ(status.rules_left_out, 0);
  EXPECT_EQ(status.load.rules, 4);
}

TEST(StatusSource, CountsWhatEachRuleSaidSinceTheStart) {
  Service service;
  for (int i = 0; i < 5; ++i) service.Ask("ana");
  service.Ask("bob");
  const ServiceStatus status = service.source.Read();
  // The most refusals first: 4 in shadow, 3 enforced.
  ASSERT_THAT(status.rules, SizeIs(4));
  EXPECT_EQ(status.rules[0].rule, "trial");
  EXPECT_EQ(status.rules[0].counts.shadow_refused, 4);
  EXPECT_EQ(status.rules[0].counts.refused, 0);
  EXPECT_EQ(status.rules[1].rule, "per-user");
  EXPECT_EQ(status.rules[1].counts.allowed, 3);
  EXPECT_EQ(status.rules[1].counts.refused, 3);
  EXPECT_EQ(status.memory.buckets, 8);
}

TEST(StatusSource, ShowsTheKeysThatAreRefusedMostOverAllRules) {
  Service service;
  for (int i = 0; i < 7; ++i) service.Ask("<img src=x>");
  for (int i = 0; i < 4; ++i) service.Ask("bob");
  service.clock.Advance(kSecondNs);
  const ServiceStatus status = service.source.Read();
  EXPECT_EQ(status.refused_mode, "on");
  EXPECT_EQ(status.half_life_s, 600);
  ASSERT_THAT(status.keys, SizeIs(4));
  EXPECT_EQ(status.keys[0].key, "user=<img src=x>");
  EXPECT_EQ(status.keys[0].rule, "trial");
  EXPECT_TRUE(status.keys[0].shadow);
  EXPECT_EQ(status.keys[0].count, 6);
  EXPECT_EQ(status.keys[0].last_ns, kStartNs);
  EXPECT_EQ(status.keys[1].rule, "per-user");
  EXPECT_EQ(status.keys[1].count, 5);
  EXPECT_DOUBLE_EQ(status.keys[1].share, 5.0 / 7);
  EXPECT_FALSE(status.keys_left_out);
}

TEST(StatusSource, ShowsNoKeysWhereTheServerKeepsNone) {
  Service off({.mode = RefusedKeysOptions::Mode::kOff});
  for (int i = 0; i < 5; ++i) off.Ask("ana");
  EXPECT_EQ(off.source.Read().refused_mode, "off");
  EXPECT_THAT(off.source.Read().keys, IsEmpty());
  Service hashed({.mode = RefusedKeysOptions::Mode::kHashed});
  for (int i = 0; i < 5; ++i) hashed.Ask("ana");
  const ServiceStatus status = hashed.source.Read();
  EXPECT_EQ(status.refused_mode, "hashed");
  ASSERT_THAT(status.keys, SizeIs(2));
  EXPECT_THAT(status.keys[0].key, testing::StartsWith("#"));
}

TEST(StatusSource, LeavesOutKeysBeyondItsBound) {
  Service service({.mode = RefusedKeysOptions::Mode::kOn},
                  "domain: shop\nrules:\n"
                  "  - {name: a, key: [user], limit: 1/day}\n");
  for (size_t i = 0; i < kMaxShownKeys; ++i) {
    service.Ask(absl::StrCat(i));
    service.Ask(absl::StrCat(i));
  }
  EXPECT_THAT(service.source.Read().keys, SizeIs(kMaxShownKeys));
  EXPECT_FALSE(service.source.Read().keys_left_out);
  for (int i = 0; i < 3; ++i) service.Ask("one more");
  const ServiceStatus status = service.source.Read();
  EXPECT_THAT(status.keys, SizeIs(kMaxShownKeys));
  EXPECT_EQ(status.keys[0].key, "user=one more");
  EXPECT_TRUE(status.keys_left_out);
}

TEST(StatusSource, LeavesOutTheRulesThatRefusedLeast) {
  std::string rules = "domain: shop\nrules:\n";
  for (size_t i = 0; i < kMaxShownRules + 2; ++i) {
    absl::StrAppend(&rules, "  - {name: r", i, ", key: [k", i,
                    "], limit: 1/day}\n");
  }
  absl::StrAppend(&rules, "  - {name: last, key: [user], limit: 1/day}\n");
  Service service({}, rules);
  service.Ask("ana");
  service.Ask("ana");
  const ServiceStatus status = service.source.Read();
  EXPECT_THAT(status.rules, SizeIs(kMaxShownRules));
  EXPECT_EQ(status.rules[0].rule, "last");
  EXPECT_EQ(status.rules_left_out, 3);
  EXPECT_EQ(status.load.rules, kMaxShownRules + 3);
}

TEST(StatusSource, SaysThatAReloadFailedAndWhatStaysInForce) {
  Service service;
  const std::string hash = service.source.Read().load.hash;
  service.clock.Advance(kSecondNs);
  service.loader.Reload(Service::Parse(
      "domain: shop\nrules:\n  - {name: a, key: [user], limit: 0/second}\n"));
  ShownLoad load = service.source.Read().load;
  EXPECT_FALSE(load.ok);
  EXPECT_THAT(load.error, HasSubstr("0/second"));
  EXPECT_EQ(load.at_ns, kStartNs + kSecondNs);
  EXPECT_EQ(load.hash, hash);
  EXPECT_EQ(load.rules, 4);
  service.clock.Advance(kSecondNs);
  service.loader.Reload(Service::Parse(
      "domain: shop\nrules:\n  - {name: a, key: [user], limit: 1/second}\n"));
  load = service.source.Read().load;
  EXPECT_TRUE(load.ok);
  EXPECT_EQ(load.error, "");
  EXPECT_EQ(load.at_ns, kStartNs + 2 * kSecondNs);
  EXPECT_EQ(load.rules, 1);
}

}  // namespace
}  // namespace tollgate
