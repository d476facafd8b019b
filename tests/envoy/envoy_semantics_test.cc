// What an operator of Envoy's own rate limit service relies on, a row for each
// sentence, and where Tollgate differs on purpose, the difference.

#include <cctype>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "server/limiter/algorithm.h"
#include "tests/envoy/gateway.h"
#include "tests/limiter/nodes.h"

namespace tollgate {
namespace {

struct Step {
  std::string ask;     // descriptors, and the request's other fields
  std::string answer;  // as text
  absl::Duration later = absl::ZeroDuration();  // before it is asked
};

struct Case {
  const char* sentence;
  std::vector<Rule> rules;
  std::vector<Step> steps;
  EnvoyAnswerOptions options = {};
};

const Algorithm& FixedWindow() { return *FindAlgorithm("fixed_window"); }

Rule PerMinute(const char* key, uint64_t requests,
               const Algorithm& algorithm = TokenBucket()) {
  return NodeAt({{key, "", false}}, {Written(requests)}, algorithm);
}

Rule Shadow(Rule rule) {
  rule.mode = Mode::kShadow;
  return rule;
}
Rule QuotaMode(Rule rule) {
  rule.node->quota_mode = true;
  return rule;
}
Rule Named(Rule rule, const char* name,
           std::vector<std::string> replaces = {}) {
  rule.node->limits[0].name = name;
  rule.node->limits[0].replaces = std::move(replaces);
  return rule;
}
Rule Unlimited(const char* key, std::vector<std::string> replaces = {}) {
  NodeLimit limit;
  limit.unlimited = true;
  limit.replaces = std::move(replaces);
  return NodeAt({{key, "", false}}, {limit});
}
// A rule of Tollgate's own kind.
Rule Native(const char* name, const char* key, uint64_t tokens,
            absl::Duration period) {
  Rule rule;
  rule.domain = "shop";
  rule.name = name;
  rule.key = {KeyPart{{KeySource{key, {}}}}};
  rule.limits = {MakeLimit(tokens, period)};
  rule.algorithm = &TokenBucket();
  return rule;
}

const std::string kA = Descr({{"a", "1"}});
const std::string kB = Descr({{"b", "1"}});
const std::string kC = Descr({{"c", "1"}});

std::vector<Case> HitsCases() {
  return {
      {"a descriptor takes the request's hits",
       {PerMinute("a", 10)},
       {{kA + "hits_addend: 3", kOk + Limited("OK", 10, "MINUTE", 7, 18)}}},
      {"hits of 0 for the request are 1",
       {PerMinute("a", 10)},
       {{kA + "hits_addend: 0", kOk + Limited("OK", 10, "MINUTE", 9, 6)}}},
      {"a descriptor's own hits win over the request's",
       {PerMinute("a", 10), PerMinute("b", 10)},
       {{kA + Descr({{"b", "1"}}, "hits_addend { value: 5 }") +
             "hits_addend: 3",
         kOk + Limited("OK", 10, "MINUTE", 7, 18) +
             Limited("OK", 10, "MINUTE", 5, 30)}}},
      {"a probe takes nothing, and passes where nothing remains",
       {PerMinute("a", 1)},
       {{kA, kOk + Limited("OK", 1, "MINUTE", 0, 60)},
        {Descr({{"a", "1"}}, "hits_addend { }"),
         kOk + Limited("OK", 1, "MINUTE", 0, 60)},
        {kA, kOver + Limited("OVER_LIMIT", 1, "MINUTE", 0, 60)}}},
      {"a probe of an untouched token bucket finds it full, not in a window "
       "(difference)",
       {PerMinute("a", 10)},
       {{Descr({{"a", "1"}}, "hits_addend { }"),
         kOk + Limited("OK", 10, "MINUTE", 10, 0)}}},
      {"a refused call costs nothing, so what is left can still be had "
       "(difference)",
       {PerMinute("a", 10)},
       {{kA + "hits_addend: 7", kOk + Limited("OK", 10, "MINUTE", 3, 42)},
        {kA + "hits_addend: 7",
         kOver + Limited("OVER_LIMIT", 10, "MINUTE", 0, 42)},
        {kA + "hits_addend: 3", kOk + Limited("OK", 10, "MINUTE", 0, 60)}}},
      {"more hits than the limit are over it",
       {PerMinute("a", 10)},
       {{kA + "hits_addend: 11",
         kOver + Limited("OVER_LIMIT", 10, "MINUTE", 0, 0)},
        {kA + "hits_addend: 10", kOk + Limited("OK", 10, "MINUTE", 0, 60)}}},
      {"negative hits are given back, always OK, and never above the limit",
       {PerMinute("a", 10)},
       {{kA + "hits_addend: 10", kOk + Limited("OK", 10, "MINUTE", 0, 60)},
        {Descr({{"a", "1"}}, "hits_addend { value: 4 } is_negative_hits: true"),
         kOk + Limited("OK", 10, "MINUTE", 4, 36)},
        {Descr({{"a", "1"}},
               "hits_addend { value: 99 } is_negative_hits: true"),
         kOk + Limited("OK", 10, "MINUTE", 10, 0)},
        {kA + "hits_addend: 11",
         kOver + Limited("OVER_LIMIT", 10, "MINUTE", 0, 0)}}},
      {"two descriptors with equal entries are counted each",
       {PerMinute("a", 10)},
       {{kA + kA, kOk + Limited("OK", 10, "MINUTE", 9, 6) +
                      Limited("OK", 10, "MINUTE", 8, 12)}}},
  };
}

std::vector<Case> DecisionCases() {
  return {
      {"what no limit applies to is OK and nothing else",
       {PerMinute("a", 10), NodeAt({{"w", "", false}}, {})},
       {{kB + Descr({{"w", "1"}}) + Descr({{"a", "1"}, {"b", "1"}}),
         kOk + kNoLimit + kNoLimit + kNoLimit}}},
      {"a descriptor without entries has no limit",
       {PerMinute("a", 10)},
       {{"descriptors { } " + kA,
         kOk + kNoLimit + Limited("OK", 10, "MINUTE", 9, 6)},
        {"descriptors { }", kOk + kNoLimit}}},
      {"unlimited has all remaining and no limit",
       {Unlimited("a")},
       {{kA, kOk + kUnlimitedStatus}}},
      {"a limit's name is told",
       {Named(PerMinute("a", 10), "per-a")},
       {{kA, kOk + Limited("OK", 10, "MINUTE", 9, 6, "per-a")}}},
      {"a shadow limit is OK when it is over, with nothing remaining",
       {Shadow(PerMinute("a", 1))},
       {{kA, kOk + Limited("OK", 1, "MINUTE", 0, 60)},
        {kA, kOk + Limited("OK", 1, "MINUTE", 0, 60)}}},
      {"a replaced limit is dropped: OK, and not counted",
       {Named(PerMinute("a", 1), "a"), Named(PerMinute("b", 5), "b", {"a"})},
       {{kA + kB, kOk + kNoLimit + Limited("OK", 5, "MINUTE", 4, 12, "b")},
        {kA, kOk + Limited("OK", 1, "MINUTE", 0, 60, "a")}}},
      {"an unlimited limit replaces too",
       {Named(PerMinute("a", 1), "a"), Unlimited("b", {"a"})},
       {{kA + kB, kOk + kNoLimit + kUnlimitedStatus}}},
      {"a limit that is replaced itself replaces still",
       {Named(PerMinute("a", 1), "a"), Named(PerMinute("b", 5), "b", {"a"}),
        Named(PerMinute("c", 5), "c", {"b"})},
       {{kA + kB + kC,
         kOk + kNoLimit + kNoLimit + Limited("OK", 5, "MINUTE", 4, 12, "c")}}},
      {"0 requests per unit refuse everything until the unit ends, for ever",
       {PerMinute("a", 0)},
       {{kA, kOver + Limited("OVER_LIMIT", 0, "MINUTE", 0, 60)}}},
      {"each unit has its length",
       {NodeAt({{"a", "", false}}, {Written(1, LimitUnit::kWeek)})},
       {{kA, kOk + Limited("OK", 1, "WEEK", 0, 604'800)}}},
      {"a month has 30 days and a year 365",
       {NodeAt({{"a", "", false}}, {Written(1, LimitUnit::kMonth)}),
        NodeAt({{"b", "", false}}, {Written(1, LimitUnit::kYear)})},
       {{kA + kB, kOk + Limited("OK", 1, "MONTH", 0, 2'592'000) +
                      Limited("OK", 1, "YEAR", 0, 31'536'000)}}},
  };
}

std::vector<Case> WindowCases() {
  return {
      {"a fixed window counts up to the limit, then refuses until it ends",
       {PerMinute("a", 2, FixedWindow())},
       {{kA, kOk + Limited("OK", 2, "MINUTE", 1, 60)},
        {kA, kOk + Limited("OK", 2, "MINUTE", 0, 60)},
        {kA, kOver + Limited("OVER_LIMIT", 2, "MINUTE", 0, 60)},
        {kA, kOver + Limited("OVER_LIMIT", 2, "MINUTE", 0, 1),
         absl::Milliseconds(59'999)},
        {kA, kOk + Limited("OK", 2, "MINUTE", 1, 60), absl::Milliseconds(1)}}},
      {"the reset is what is left of the window, in whole seconds",
       {PerMinute("a", 9, FixedWindow())},
       {{kA, kOk + Limited("OK", 9, "MINUTE", 8, 60)},
        {kA, kOk + Limited("OK", 9, "MINUTE", 7, 18), absl::Seconds(42)},
        {kA, kOk + Limited("OK", 9, "MINUTE", 6, 18), absl::Milliseconds(1)}}},
      {"windows let twice the limit through at an edge",
       {PerMinute("a", 3, FixedWindow())},
       {{kA + "hits_addend: 3", kOk + Limited("OK", 3, "MINUTE", 0, 1),
         absl::Milliseconds(59'500)},
        {kA + "hits_addend: 3", kOk + Limited("OK", 3, "MINUTE", 0, 60),
         absl::Milliseconds(500)}}},
      {"a token bucket does not (difference)",
       {PerMinute("a", 3)},
       {{kA + "hits_addend: 3", kOk + Limited("OK", 3, "MINUTE", 0, 60),
         absl::Milliseconds(59'500)},
        {kA + "hits_addend: 3",
         kOver + Limited("OVER_LIMIT", 3, "MINUTE", 0, 60),
         absl::Milliseconds(500)},
        {kA, kOk + Limited("OK", 3, "MINUTE", 0, 60),
         absl::Milliseconds(19'500)}}},
  };
}

std::vector<Case> ResponseCases() {
  return {
      {"statuses have the order and length of the descriptors",
       {PerMinute("b", 5), PerMinute("a", 10)},
       {{kA + kC + kB + kA, kOk + Limited("OK", 10, "MINUTE", 9, 6) + kNoLimit +
                                Limited("OK", 5, "MINUTE", 4, 12) +
                                Limited("OK", 10, "MINUTE", 8, 12)}}},
      {"one descriptor over the limit is the whole request over it, and costs "
       "its siblings nothing (difference)",
       {PerMinute("a", 10), PerMinute("b", 1)},
       {{kA + kB, kOk + Limited("OK", 10, "MINUTE", 9, 6) +
                      Limited("OK", 1, "MINUTE", 0, 60)},
        {kA + kB, kOver + Limited("OK", 10, "MINUTE", 9, 6) +
                      Limited("OVER_LIMIT", 1, "MINUTE", 0, 60)},
        {kB + kA, kOver + Limited("OVER_LIMIT", 1, "MINUTE", 0, 60) +
                      Limited("OK", 10, "MINUTE", 9, 6)},
        {kA, kOk + Limited("OK", 10, "MINUTE", 8, 12)}}},
      {"one of two quota-mode descriptors over its limit refuses nothing",
       {QuotaMode(PerMinute("a", 1)), QuotaMode(PerMinute("b", 5))},
       {{kA, kOk + Limited("OK", 1, "MINUTE", 0, 60)},
        {kA + kB, kOk + Limited("OVER_LIMIT", 1, "MINUTE", 0, 60) +
                      Limited("OK", 5, "MINUTE", 4, 12)}}},
      {"all quota-mode descriptors over their limits refuse",
       {QuotaMode(PerMinute("a", 1)), QuotaMode(PerMinute("b", 1))},
       {{kA + kB, kOk + Limited("OK", 1, "MINUTE", 0, 60) +
                      Limited("OK", 1, "MINUTE", 0, 60)},
        {kA + kB, kOver + Limited("OVER_LIMIT", 1, "MINUTE", 0, 60) +
                      Limited("OVER_LIMIT", 1, "MINUTE", 0, 60)}}},
      {"the only quota-mode descriptor over its limit refuses, whatever else "
       "passes",
       {QuotaMode(PerMinute("a", 1)), PerMinute("b", 5)},
       {{kA, kOk + Limited("OK", 1, "MINUTE", 0, 60)},
        {kA + kB, kOver + Limited("OVER_LIMIT", 1, "MINUTE", 0, 60) +
                      Limited("OK", 5, "MINUTE", 5, 0)}}},
      {"in shadow mode the whole is OK and the statuses stay",
       {PerMinute("a", 1)},
       {{kA, kOk + Limited("OK", 1, "MINUTE", 0, 60)},
        {kA, kOk + Limited("OVER_LIMIT", 1, "MINUTE", 0, 60)}},
       {.shadow_mode = true}},
      {"of several limits on one key the one with the least remaining is told",
       {NodeAt({{"a", "", false}},
               {Written(10), Written(2, LimitUnit::kSecond)})},
       {{kA, kOk + Limited("OK", 2, "SECOND", 1, 1)},
        {kA, kOk + Limited("OK", 2, "SECOND", 0, 1)},
        {kA, kOver + Limited("OVER_LIMIT", 2, "SECOND", 0, 1)}}},
  };
}

std::vector<Case> OverrideCases() {
  const std::string override_ =
      Descr({{"x", "1"}}, "limit { requests_per_unit: 2 unit: HOUR }");
  return {
      {"an override is used whether or not a rule matches",
       {PerMinute("a", 10)},
       {{override_, kOk + Limited("OK", 2, "HOUR", 1, 1800)},
        {override_, kOk + Limited("OK", 2, "HOUR", 0, 3600)},
        {override_, kOver + Limited("OVER_LIMIT", 2, "HOUR", 0, 3600)}}},
      {"an override goes before the rule that matches, which is not charged",
       {PerMinute("a", 10)},
       {{Descr({{"a", "1"}}, "limit { requests_per_unit: 3 unit: SECOND }"),
         kOk + Limited("OK", 3, "SECOND", 2, 1)},
        {kA, kOk + Limited("OK", 10, "MINUTE", 9, 6)}}},
      {"an override of 0 requests refuses everything",
       {PerMinute("a", 10)},
       {{Descr({{"a", "1"}}, "limit { unit: MINUTE }"),
         kOver + Limited("OVER_LIMIT", 0, "MINUTE", 0, 60)}}},
      {"a week has no name in an override, and its number does",
       {PerMinute("a", 10)},
       {{Descr({{"a", "1"}}, "limit { requests_per_unit: 1 unit: 7 }"),
         kOk + Limited("OK", 1, "WEEK", 0, 604'800)}}},
      {"an override of a shadow rule is enforced",
       {Shadow(PerMinute("a", 10))},
       {{Descr({{"a", "1"}}, "limit { unit: MINUTE }"),
         kOver + Limited("OVER_LIMIT", 0, "MINUTE", 0, 60)}}},
  };
}

std::vector<Case> NativeCases() {
  return {
      {"a native rule is told by its name, at the descriptor it applies to",
       {Native("per-user", "user", 10, absl::Minutes(1))},
       {{kA + Descr({{"user", "ana"}, {"ip", "1"}}),
         kOk + kNoLimit + Limited("OK", 10, "MINUTE", 9, 6, "per-user")}}},
      {"a native limit per several units is of no unit",
       {Native("slow", "user", 100, absl::Minutes(5))},
       {{Descr({{"user", "ana"}}),
         kOk + "statuses { code: OK current_limit { requests_per_unit: 100 "
               "name: 'slow' } limit_remaining: 99 duration_until_reset { "
               "seconds: 3 } }"}}},
      {"a native rule that refuses is one descriptor over the limit",
       {Native("per-user", "user", 1, absl::Minutes(1)),
        Native("site", "site", 9, absl::Minutes(1))},
       {{Descr({{"site", "1"}}) + Descr({{"user", "ana"}}),
         kOk + Limited("OK", 9, "MINUTE", 8, 7, "site") +
             Limited("OK", 1, "MINUTE", 0, 60, "per-user")},
        {Descr({{"site", "1"}}) + Descr({{"user", "ana"}}),
         kOver + Limited("OK", 9, "MINUTE", 8, 7, "site") +
             Limited("OVER_LIMIT", 1, "MINUTE", 0, 60, "per-user")}}},
      {"a native bucket that two descriptors select is charged and told once",
       {Native("per-user", "user", 10, absl::Minutes(1))},
       {{Descr({{"user", "ana"}}) + Descr({{"user", "ana"}, {"x", "1"}}),
         kOk + Limited("OK", 10, "MINUTE", 9, 6, "per-user") + kNoLimit}}},
  };
}

// Its sentence, as a test's name.
std::string NameOf(const ::testing::TestParamInfo<Case>& info) {
  std::string name;
  for (const char* c = info.param.sentence; *c != '\0'; ++c) {
    name += std::isalnum(static_cast<unsigned char>(*c)) != 0 ? *c : '_';
  }
  return name;
}

class EnvoySemantics : public ::testing::TestWithParam<Case> {};

TEST_P(EnvoySemantics, Hold) {
  const Case& row = GetParam();
  SCOPED_TRACE(row.sentence);
  Gateway gateway(row.rules, row.options);
  for (size_t i = 0; i < row.steps.size(); ++i) {
    const Step& step = row.steps[i];
    gateway.clock.Advance(absl::ToInt64Nanoseconds(step.later));
    EXPECT_EQ(gateway.Ask(step.ask), Answer(step.answer)) << "step " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Hits, EnvoySemantics, ::testing::ValuesIn(HitsCases()),
                         NameOf);
INSTANTIATE_TEST_SUITE_P(Decisions, EnvoySemantics,
                         ::testing::ValuesIn(DecisionCases()), NameOf);
INSTANTIATE_TEST_SUITE_P(Windows, EnvoySemantics,
                         ::testing::ValuesIn(WindowCases()), NameOf);
INSTANTIATE_TEST_SUITE_P(Responses, EnvoySemantics,
                         ::testing::ValuesIn(ResponseCases()), NameOf);
INSTANTIATE_TEST_SUITE_P(Overrides, EnvoySemantics,
                         ::testing::ValuesIn(OverrideCases()), NameOf);
INSTANTIATE_TEST_SUITE_P(NativeRules, EnvoySemantics,
                         ::testing::ValuesIn(NativeCases()), NameOf);

}  // namespace
}  // namespace tollgate
