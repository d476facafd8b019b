// Random requests under rules of every kind get the same from Redis as from
// memory.
#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "server/limiter/memory_store.h"
#include "tests/limiter/ask.h"
#include "tests/limiter/limits.h"
#include "tests/limiter/nodes.h"
#include "tests/redis/store_harness.h"
#include "tests/support/redis_process.h"

namespace tollgate::redis {
namespace {

Rule Of(std::string name, std::vector<Limit> limits,
        absl::string_view algorithm, const std::string& entry = "user") {
  Rule rule = MakeRule(std::move(name), {entry}, std::move(limits));
  rule.algorithm = FindAlgorithm(algorithm);
  return rule;
}

// One rule for each thing that a rule can have, but no tiers: what is given
// back in memory has moved its bucket to the tier, and a run of the script that
// takes nothing has not.
std::vector<Rule> NativeRules() {
  std::vector<Rule> rules;
  rules.push_back(Of("bucket", {PerMinute(7, 9)}, "token_bucket"));
  rules.push_back(
      Of("both", {PerMinute(9), PerHour(40)}, "token_bucket", "ip"));
  rules.push_back(Of("leaky", {Holding(PerMinute(6), absl::Seconds(30))},
                     "leaky_bucket", "leaky"));
  rules.push_back(Of("fixed", {PerMinute(8)}, "fixed_window", "fixed"));
  rules.push_back(Of("sliding", {PerMinute(8)}, "sliding_window", "sliding"));
  rules.push_back(Of("log", {PerMinute(8)}, "sliding_log", "log"));
  rules.push_back(Of("slots", {PerMinute(3)}, "concurrency", "slots"));
  rules.push_back(Of("shadow", {PerMinute(2)}, "token_bucket", "fixed"));
  rules.back().mode = Mode::kShadow;
  rules.push_back(Of("penalty", {PerMinute(3)}, "fixed_window", "log"));
  rules.back().penalty = PenaltyRule{Holding(PerMinute(2), absl::Minutes(5))};
  rules.push_back(Of("reserve", {PerMinute(10)}, "token_bucket", "sliding"));
  rules.back().reserve = Reserve{"class", {{"high", 0}, {"low", 30}}, "low"};
  rules.push_back(Of("costly", {PerMinute(20)}, "token_bucket", "ip"));
  rules.back().cost = 3;
  Rule list = MakeRule("list", {}, {});
  list.match = {Is("user", "root")};
  list.unlimited = true;
  list.skips = {"bucket", "slots"};
  rules.push_back(list);
  return rules;
}

std::vector<Rule> EnvoyRules() {
  Rule plain = NodeAt({{"k", ""}}, {Written(5), Written(9, LimitUnit::kHour)});
  Rule quota = NodeAt({{"q", ""}}, {Written(3)});
  Rule wide = NodeAt({{"q", "wide"}}, {Written(4), Written(6, LimitUnit::kDay)},
                     *FindAlgorithm("fixed_window"));
  Rule none = NodeAt({{"q", "none"}}, {Written(0)});
  Rule shadow = NodeAt({{"s", ""}}, {Written(2)});
  quota.node->quota_mode = wide.node->quota_mode = none.node->quota_mode = true;
  shadow.mode = Mode::kShadow;
  std::vector<Rule> rules = {plain, quota, wide, none, shadow};
  for (Rule& rule : rules) rule.domain = "envoy";
  return rules;
}

class Agreement : public testing::TestWithParam<std::pair<int, uint32_t>> {
 protected:
  Agreement()
      : random_(GetParam().second),
        redis_(server_, GetParam().first),
        limiter_(clock_, {.hash_key = HashKey{}}) {
    std::vector<Rule> rules = NativeRules();
    for (Rule& rule : EnvoyRules()) rules.push_back(rule);
    redis_.SetRules(rules);
    auto set = RuleSet::Create(rules);
    EXPECT_TRUE(limiter_.SetRules(*std::move(set)).ok());
    SetTime(1'764'547'200 * kSecond + 1);
  }

  uint64_t Below(uint64_t n) { return random_() % n; }
  std::string OneOf(const std::vector<std::string>& texts) {
    return texts[Below(texts.size())];
  }
  void SetTime(int64_t now_ns) {
    clock_.Set(now_ns);
    redis_.SetTime(now_ns);
  }

  // Draws a request; its views are of members.
  Request Draw() {
    const bool envoy = Below(4) == 0;
    const size_t count = 1 + Below(3);
    texts_.assign(3, {});
    entries_.assign(3, {});
    descriptors_.clear();
    terms_.clear();
    for (size_t d = 0; d < count; ++d) {
      auto& texts = texts_[d];
      if (envoy) {
        texts = {{OneOf({"k", "q", "q", "s"}), OneOf({"a", "wide", "none"})}};
      } else {
        for (const char* key :
             {"user", "ip", "leaky", "fixed", "sliding", "log", "slots"}) {
          if (Below(4) == 0) texts.push_back({key, OneOf({"a", "b", "root"})});
        }
        texts.push_back({"plan", OneOf({"free", "paid", "other"})});
        texts.push_back({"class", OneOf({"high", "low"})});
      }
      for (const auto& [key, value] : texts) {
        entries_[d].push_back({key, value});
      }
      descriptors_.emplace_back(entries_[d]);
    }
    Request request{envoy ? "envoy" : "shop", descriptors_, Below(4)};
    if (Below(12) == 0) request.cost = 30;
    if (Below(4) == 0) {
      for (size_t d = 0; d < count; ++d) terms_.push_back(DrawTerms());
      request.terms = terms_;
    }
    return request;
  }
  DescriptorTerms DrawTerms() {
    switch (Below(6)) {
      case 0:
        return GiveBack(1 + Below(3));
      case 1:
        return Override(4 * Below(2), LimitUnit::kMinute);
      case 2:
        return {};
      default:
        return Hits(Below(4));
    }
  }

  static std::string Text(const Decision& decision, bool slots) {
    std::string text = absl::StrCat(
        OutcomeName(decision.outcome), " retry ", decision.retry_after_ns,
        " stands ", decision.stands_for_ns, " delay ", decision.delay_ns,
        " at ", decision.decided_at_ns, slots ? " slots " : "",
        slots ? absl::StrCat(decision.slots.size()) : "");
    for (const RuleStatus& status : decision.statuses) {
      absl::StrAppend(
          &text, "\n  ", status.rule->name, " ", OutcomeName(status.outcome),
          status.shadow ? " shadow" : "", status.quota ? " quota" : "",
          status.unlimited ? " unlimited" : "", " action ",
          static_cast<int>(status.action), " descriptor ", status.descriptor,
          " remaining ", status.remaining, " retry ", status.retry_after_ns,
          " reset ", status.reset_after_ns, " delay ", status.delay_ns,
          status.outage ? " outage" : "");
    }
    return text;
  }

  void Step();
  void ReleaseOne();

  std::mt19937_64 random_;
  const RedisProcess server_;
  RedisStoreUnderTest redis_;
  FakeClock clock_{1};
  Limiter limiter_;
  struct Held {
    HeldSlots in_memory;
    HeldSlots in_redis;
    std::string place;
  };
  std::vector<Held> held_;
  std::vector<std::vector<std::pair<std::string, std::string>>> texts_;
  std::vector<std::vector<Entry>> entries_;
  std::vector<Descriptor> descriptors_;
  std::vector<DescriptorTerms> terms_;
};

void Agreement::ReleaseOne() {
  if (held_.empty()) return;
  Held held = held_[Below(held_.size())];
  held.in_redis.place = held.place;
  limiter_.Release(held.in_memory);
  redis_.Release(held.in_redis);
}

void Agreement::Step() {
  const int64_t now_ns = clock_.NowNs();
  // Not back: memory notes the instant of a take that is given back, and Redis
  // never did it.
  constexpr int64_t kSteps[] = {0,       1,           kMilli,
                                kSecond, 7 * kSecond, 60 * kSecond};
  SetTime(now_ns + kSteps[Below(6)]);
  if (Below(5) == 0) ReleaseOne();
  const Request request = Draw();
  if (Below(12) == 0) {
    ASSERT_EQ(Text(redis_.Refund(request, now_ns), true),
              Text(limiter_.Refund(request, now_ns), true));
    return;
  }
  if (Below(60) == 0) {
    limiter_.Reset(request, "");
    redis_.Reset(request);
    return;
  }
  const Decision want = limiter_.Decide(request);
  const Decision got = redis_.Decide(request);
  ASSERT_EQ(Text(got, true), Text(want, true));
  for (size_t i = 0; i < want.slots.size(); ++i) {
    held_.push_back({want.slots[i], got.slots[i], redis_.places()[i]});
  }
}

INSTANTIATE_TEST_SUITE_P(PartitionsAndSeeds, Agreement,
                         testing::Values(std::pair(1, 3u), std::pair(1, 6u),
                                         std::pair(5, 4u), std::pair(5, 7u)));

TEST_P(Agreement, OfMemoryAndRedis) {
  for (int i = 0; i < 700 && !HasFatalFailure(); ++i) {
    SCOPED_TRACE(absl::StrCat("step ", i));
    Step();
  }
}

}  // namespace
}  // namespace tollgate::redis
