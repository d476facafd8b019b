#ifndef TOLLGATE_TESTS_METRICS_METRIC_TEXT_H_
#define TOLLGATE_TESTS_METRICS_METRIC_TEXT_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "gtest/gtest.h"
#include "server/base/clock.h"
#include "server/limiter/limiter.h"
#include "server/metrics/metrics.h"

namespace tollgate {

inline constexpr double kNoSeries = -1;

// The value of `series` (name and labels, as written), or kNoSeries.
inline double ValueOf(const std::string& text, absl::string_view series) {
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    double value = 0;
    if (absl::ConsumePrefix(&line, absl::StrCat(series, " ")) &&
        absl::SimpleAtod(line, &value)) {
      return value;
    }
  }
  return kNoSeries;
}

// A limiter with metrics, at a time that stands still.
struct Counted {
  FakeClock clock{1'700'000'000'000'000'000};
  std::unique_ptr<Metrics> metrics = MakeMetrics({.version = "1.2.3"});
  Limiter limiter{clock, LimiterOptions{.observer = metrics.get()}};

  void SetRules(std::vector<Rule> rules) {
    absl::StatusOr<RuleSet> set = RuleSet::Create(std::move(rules));
    ASSERT_TRUE(set.ok()) << set.status();
    ASSERT_TRUE(limiter.SetRules(*std::move(set)).ok());
  }

  Outcome Ask(absl::string_view domain, absl::string_view user,
              uint64_t cost = 1) {
    const Entry entry{"user", user};
    const Descriptor descriptor(&entry, 1);
    Request request;
    request.domain = domain;
    request.descriptors = absl::MakeConstSpan(&descriptor, 1);
    request.cost = cost;
    return limiter.Decide(request).outcome;
  }

  [[nodiscard]] double Value(absl::string_view series) const {
    return ValueOf(metrics->Serialize({}), series);
  }
  [[nodiscard]] double Decisions(absl::string_view rule,
                                 absl::string_view outcome) const {
    return Value(
        absl::StrCat("tollgate_decisions_total{domain=\"shop\",rule=\"", rule,
                     "\",outcome=\"", outcome, "\"}"));
  }
  [[nodiscard]] double Requests(absl::string_view domain,
                                absl::string_view outcome) const {
    return Value(absl::StrCat("tollgate_requests_total{domain=\"", domain,
                              "\",outcome=\"", outcome, "\"}"));
  }
};

// `tokens` a second for each user of the shop.
inline Rule PerUser(const std::string& name, uint64_t tokens) {
  Rule rule;
  rule.domain = "shop";
  rule.name = name;
  rule.key = {KeyPart{{KeySource{"user"}}}};
  rule.limits = {Limit::Create(tokens, absl::Seconds(1)).value()};
  rule.algorithm = FindAlgorithm("token_bucket");
  return rule;
}

}  // namespace tollgate

#endif  // TOLLGATE_TESTS_METRICS_METRIC_TEXT_H_
