// From rule files through the server's feed to what a client enforces: it means
// the same and decides the same.
#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "client/core_decision.h"
#include "client/outage_refusal.h"
#include "client/outage_rules.h"
#include "client/policy_wire.h"
#include "client/request_view.h"
#include "gtest/gtest.h"
#include "server/base/clock.h"
#include "server/limiter/fixed_window.h"
#include "server/rpc/policy_feed.h"
#include "server/rules/rule_file.h"
#include "server/rules/rule_hash.h"
#include "tests/rpc/fakes.h"
#include "tests/support/seeds.h"

namespace tollgate::client {
namespace {

// Every field of a native file, with limits that are reached.
constexpr char kNative[] = R"yaml(
domain: native
rules:
  - {name: each, key: [[user, {entry: ip, prefix: {v4: 24, v6: 48}}], device],
     limit: [4/second, 9/3s], overflow_share: 250%}
  - {name: blocked, key: [user], limit: 3/second,
     penalty: {after: 4/10s, block: 20s}}
  - name: kept
    match: {path: [/a/*, /b]}
    key: []
    limit: 20/second
    cost: 2
    reserve: {entry: class, shares: {high: 0%, low: 40%, batch: 75%},
              default: low}
  - {name: unnamed, key: [user], limit: 9/second, burst: 12,
     reserve: {entry: class, shares: {high: 10%, low: 50%}}}
  - name: tiers
    key: [user]
    algorithm: sliding_window
    tier: {entry: plan, limits: {free: 3/second, paid: 12/second},
           default: free}
  - {name: some, key: [user], algorithm: fixed_window,
     tier: {entry: plan, limits: {free: 2/second}}}
  - {name: few, match: {path: /login}, key: [user], limit: 3/10s,
     algorithm: sliding_log, penalty: {after: 6/minute, block: 1m},
     reserve: {entry: class, shares: {high: 0%, low: 50%}, default: high}}
  - {name: shaped, match: {path: "/h*k"}, key: [user], limit: 5/second,
     algorithm: leaky_bucket, max_delay: 700ms, burst: 2}
  - {name: slots, match: {path: /export}, key: [user], limit: 3,
     algorithm: concurrency, slot_ttl: 5s}
  - {name: never, match: {path: /secret}, key: [user], limit: 5/second,
     on_outage: refuse, penalty: {after: 1/minute, block: 1h},
     reserve: {entry: class, shares: {high: 0%, low: 50%}}}
  - {name: whatever, key: [user], limit: 1/hour, on_outage: allow}
  - {name: trial, key: [user], limit: 1/hour, mode: shadow}
  - {name: half, key: [user], limit: 2/second, mode: {enforce: 50%}}
  - {name: gone, key: [user], limit: 1/hour, mode: off}
  - {name: staff, match: {user: root}, unlimited: true,
     skips: [each, half, gone, whatever]}
  - {name: of-none, match: {user: b}, unlimited: true, skips: [gone]}
  - {name: list-on-trial, match: {user: c}, unlimited: true, mode: shadow}
  - {name: all, match: {path: /healthz}, unlimited: true}
)yaml";

// Every field of an Envoy-format file.
constexpr char kEnvoy[] = R"yaml(
domain: envoy
descriptors:
  - key: user
    rate_limit: {unit: second, requests_per_unit: 4, name: general}
    descriptors:
      - {key: path, value: /a, rate_limit: {unit: second, unit_multiplier: 3,
         requests_per_unit: 5, name: special,
         replaces: [{name: general}, {name: nobody}]}}
      - {key: path, value: "/b*", share_threshold: true,
         rate_limit: {unit: minute, requests_per_unit: 6}}
      - {key: "p*", value: "/c*",
         rate_limit: {unit: week, requests_per_unit: 7}}
      - {key: path, rate_limit: [{unit: second, requests_per_unit: 3},
         {unit: month, requests_per_unit: 50}]}
  - {key: user, value: root, rate_limit: {unlimited: true,
     replaces: [{name: general}, {name: daily}]}}
  - {key: user, value: nobody, rate_limit: {unit: year, requests_per_unit: 0}}
  - {key: trial, shadow_mode: true, metadata: {a: {b: [1, two]}},
     rate_limit: {unit: day, requests_per_unit: 2, name: daily}}
  - {key: first, quota_mode: true, detailed_metric: true,
     rate_limit: {unit: second, requests_per_unit: 3}}
  - {key: second, quota_mode: true, value_to_metric: true,
     rate_limit: {unit: hour, requests_per_unit: 8}}
  - {key: third, quota_mode: true, shadow_mode: true,
     rate_limit: {unit: hour, requests_per_unit: 1}}
  - {key: free}
)yaml";

// What a rule comes to in an outage, by the rule reference.
Rule InAnOutage(Rule rule) {
  if (!rule.node.has_value()) {
    const bool limits =
        rule.mode == Mode::kEnforce &&
        (rule.unlimited || rule.on_outage != OutagePolicy::kAllow);
    if (!limits) rule.mode = Mode::kOff;
    if (limits && rule.on_outage == OutagePolicy::kRefuse) {
      rule.algorithm = &OutageRefusal();
      rule.penalty.reset();
      rule.reserve.reset();
    }
  } else {
    rule.node->metadata.clear();
  }
  rule.on_outage = OutagePolicy::kBackstop;
  return rule;
}

// The rules as they reach a client, by the server's feed and over the wire.
PolicyUpdate Pushed(const std::vector<Rule>& rules, uint32_t clients) {
  CountingObserver observer;
  auto set = std::make_shared<const RuleSet>(*RuleSet::Create(rules));
  PolicyFeed feed(
      [set] {
        return RulesInForce{"0123abcd", set};
      },
      10, observer);
  feed.Refresh(/*heartbeat=*/false);
  std::vector<grpc::Slice> parts;
  for (const PolicyRules::Domain& domain : feed.rules()->domains) {
    parts.insert(parts.end(), domain.parts.begin(), domain.parts.end());
  }
  PolicyReader reader;
  std::optional<PolicyUpdate> update;
  for (size_t i = 0; i < parts.size(); ++i) {
    v1::Policy message;
    EXPECT_TRUE(message.ParseFromArray(parts[i].begin(),
                                       static_cast<int>(parts[i].size())));
    message.set_hash("0123abcd");
    message.set_clients(clients);
    message.set_part(static_cast<uint32_t>(i));
    message.set_parts(static_cast<uint32_t>(parts.size()));
    auto read = reader.Read(message);
    EXPECT_TRUE(read.ok()) << read.status();
    update = *std::move(read);
  }
  return *std::move(update);
}

std::vector<Rule> WithoutThoseThatAreOff(std::vector<Rule> rules) {
  rules.erase(
      std::remove_if(rules.begin(), rules.end(),
                     [](const Rule& rule) { return rule.mode == Mode::kOff; }),
      rules.end());
  return rules;
}

// Requests that meet the rules, and some that just miss them.
class Asking {
 public:
  Asking(const std::vector<Rule>& rules, uint32_t seed)
      : rules_(rules), random_(seed) {
    for (const Rule& rule : rules) Learn(rule);
  }

  uint32_t Below(uint32_t n) {
    return std::uniform_int_distribution<uint32_t>(0, n - 1)(random_);
  }

  Request Next() {
    const Rule& rule = rules_[Below(static_cast<uint32_t>(rules_.size()))];
    Request request;
    request.domain = Below(50) == 0 ? "of nobody" : rule.domain;
    for (uint32_t i = Below(4) == 0 ? 3 : 1; i > 0; --i) {
      request.descriptors.push_back(rule.node.has_value() ? ByNode()
                                                          : ByMatch());
    }
    request.cost = Below(4) == 0 ? Below(6) : 1;
    return request;
  }

 private:
  using Words = std::vector<std::pair<std::string, std::vector<std::string>>>;

  void Learn(const Rule& rule) {
    for (const Condition& condition : rule.match) {
      for (const Pattern& pattern : condition.any_of) {
        Add(condition.key, pattern.ToString());
      }
    }
    for (const KeyPart& part : rule.key) {
      for (const KeySource& source : part.alternatives) {
        for (const char* value :
             {"a", "b", "c", "root", "192.0.2.1", "192.0.2.9",
              "::ffff:192.0.2.1", "2001:db8::1", "2001:db8:1::1"}) {
          Add(source.entry, value);
        }
      }
    }
    if (rule.tier.has_value()) {
      Add(rule.tier->entry, "of-no-tier");
      for (const auto& [name, limits] : rule.tier->limits) {
        Add(rule.tier->entry, name);
      }
    }
    if (!rule.reserve.has_value()) return;
    Add(rule.reserve->entry, "of-no-class");
    for (const auto& [name, percent] : rule.reserve->shares) {
      Add(rule.reserve->entry, name);
    }
  }

  void Add(const std::string& key, const std::string& value) {
    for (auto& [known, values] : words_) {
      if (known == key) return values.push_back(value);
    }
    words_.push_back({key, {value}});
  }

  std::string Some(const std::string& text) {
    return absl::StrReplaceAll(text, {{"*", Below(2) == 0 ? "" : "xk"}});
  }

  Descriptor ByMatch() {
    Descriptor descriptor;
    for (const auto& [key, values] : words_) {
      if (Below(3) == 0) continue;
      descriptor.push_back(
          {key, Some(values[Below(static_cast<uint32_t>(values.size()))])});
    }
    if (descriptor.empty()) descriptor.push_back({"user", "a"});
    return descriptor;
  }

  Descriptor ByNode() {
    Descriptor descriptor;
    const Rule& rule = rules_[Below(static_cast<uint32_t>(rules_.size()))];
    if (rule.node.has_value()) {
      for (const NodeStep& step : rule.node->path) {
        std::string value = Some(step.value);
        if (value.empty() || Below(8) == 0) value = Below(2) == 0 ? "a" : "b";
        descriptor.push_back({Some(step.key), std::move(value)});
      }
    }
    if (descriptor.empty() || Below(8) == 0) {
      descriptor.push_back({"path", Below(2) == 0 ? "/a" : "/c/d"});
    }
    return descriptor;
  }

  const std::vector<Rule>& rules_;
  std::mt19937 random_;
  Words words_;
};

// One line for each status, in an order that no hash key decides.
std::string TextOf(const Decision& decision) {
  std::vector<std::string> lines;
  for (const RuleStatus& s : decision.statuses) {
    lines.push_back(absl::StrCat(s.rule, " ", OutcomeName(s.outcome), " retry ",
                                 absl::FormatDuration(s.retry_after), " reset ",
                                 absl::FormatDuration(s.reset_after), " delay ",
                                 absl::FormatDuration(s.delay),
                                 s.shadow ? " shadow" : "",
                                 s.unlimited ? " unlimited" : ""));
  }
  std::sort(lines.begin(), lines.end());
  return absl::StrCat(OutcomeName(decision.outcome), " retry ",
                      absl::FormatDuration(decision.retry_after), " delay ",
                      absl::FormatDuration(decision.delay), "\n",
                      absl::StrJoin(lines, "\n"));
}

struct Case {
  const char* name;
  const char* text;  // or the name of a file of deploy/rules
  bool fixed_window = false;
};

class PushedRules : public testing::TestWithParam<Case> {
 protected:
  PushedRules() {
    LoadOptions options;
    if (GetParam().fixed_window) options.envoy_algorithm = &FixedWindow();
    const std::string text = GetParam().text;
    LoadedRules loaded = text.find('\n') != std::string::npos
                             ? ParseRules(text, GetParam().name, options)
                             : LoadRules(absl::StrCat(TOLLGATE_SOURCE_DIR,
                                                      "/deploy/rules/", text),
                                         options);
    EXPECT_TRUE(loaded.errors.empty()) << ToStatus(loaded.errors);
    rules_ = std::move(loaded.rules);
    for (const Rule& rule : rules_) in_an_outage_.push_back(InAnOutage(rule));
  }

  std::vector<Rule> rules_;
  std::vector<Rule> in_an_outage_;
};

TEST_P(PushedRules, MeanTheSameAtAClient) {
  const PolicyUpdate update = Pushed(rules_, 1);
  const std::vector<Rule> here = WithoutThoseThatAreOff(*update.rules);
  const std::vector<Rule> there = WithoutThoseThatAreOff(in_an_outage_);
  ASSERT_EQ(here.size(), there.size());
  for (size_t i = 0; i < here.size(); ++i) {
    EXPECT_EQ(HashRules({&here[i], 1}), HashRules({&there[i], 1}))
        << there[i].name;
  }
}

TEST_P(PushedRules, DecideAsTheServiceWouldWithAnyNumberOfClients) {
  const uint32_t seed = SeedOf(kNewSeed);
  FakeClock clock(kStartNs);
  for (const uint32_t clients : {1U, 3U}) {
    Limiter service(clock, LimiterOptions{.stripes = 16});
    ASSERT_TRUE(service.SetRules(*RuleSet::Create(in_an_outage_)).ok());
    OutageRules client(clock);
    client.OnPolicy(Pushed(rules_, clients));
    ASSERT_EQ(client.stats().errors, 0);

    Asking asking(rules_, seed);
    std::vector<std::pair<tollgate::Decision, std::string>> held;
    std::array<int, 3> outcomes{};
    for (int i = 0; i < 3'000; ++i) {
      const Request request = asking.Next();
      RequestView view(request);
      (*view).sharers = clients;
      const tollgate::Decision there = service.Decide(*view);
      const Decision here = client.Decide(request);
      ASSERT_EQ(TextOf(here), TextOf(ToClientDecision(there)))
          << "request " << i << " with " << clients << " clients";
      ++outcomes.at(static_cast<size_t>(here.outcome));
      if (!there.slots.empty()) held.emplace_back(there, here.ticket);
      if (!held.empty() && asking.Below(3) == 0) {
        for (const HeldSlots& slots : held.back().first.slots) {
          service.Release(slots);
        }
        client.Release(held.back().second);
        held.pop_back();
      }
      // Busy for a while, then calm.
      clock.Advance(asking.Below(i % 500 < 250 ? 2'000'000 : 200'000'000));
      if (asking.Below(500) == 0) clock.Advance(90'000'000'000);
    }
    EXPECT_GT(outcomes[0], 100) << "allowed";
    EXPECT_GT(outcomes[1] + outcomes[2], 50) << "not allowed";
  }
}

INSTANTIATE_TEST_SUITE_P(Files, PushedRules,
                         testing::Values(Case{"native", kNative},
                                         Case{"envoy", kEnvoy},
                                         Case{"envoy_by_window", kEnvoy, true},
                                         Case{"example", "example.yaml"},
                                         Case{"policies", "policies.yaml"},
                                         Case{"algorithms", "algorithms.yaml"},
                                         Case{"envoy_example", "envoy.yaml"}),
                         [](const auto& file) { return file.param.name; });

}  // namespace
}  // namespace tollgate::client
