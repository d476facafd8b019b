#include "server/app/rule_loader.h"

#include <memory>
#include <sstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "spdlog/sinks/ostream_sink.h"
#include "spdlog/spdlog.h"
#include "tests/app/two_rules.h"
#include "tests/support/status_matchers.h"

namespace tollgate {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kOneRule[] =
    "domain: shop\nrules:\n  - {name: only, key: [user], limit: 3/day}\n";
constexpr char kTwoMistakes[] =
    "domain: shop\n"
    "rules:\n"
    "  - {name: a, key: [user], limit: 0/second}\n"
    "  - {name: b, key: [user], limits: 1/second}\n";

// What is logged while it lives.
class Log {
 public:
  Log() : before_(spdlog::default_logger()) {
    auto logger = std::make_shared<spdlog::logger>(
        "test", std::make_shared<spdlog::sinks::ostream_sink_mt>(text_));
    logger->set_pattern("%l %v");
    spdlog::set_default_logger(std::move(logger));
  }
  ~Log() { spdlog::set_default_logger(before_); }
  // What is new since the last call.
  std::string Take() {
    std::string text = text_.str();
    text_.str("");
    return text;
  }

 private:
  std::ostringstream text_;
  std::shared_ptr<spdlog::logger> before_;
};

struct Loaded {
  Log log;
  FakeClock clock{1'700'000'000'500'000'000};
  std::unique_ptr<Metrics> metrics = MakeMetrics({.version = "1"});
  Limiter limiter{clock, LimiterOptions{.observer = metrics.get()}};
  RuleLoader loader{limiter, *metrics, clock};

  Loaded() { EXPECT_THAT(loader.Start(Parse(kTwoRules)), IsOk()); }

  static LoadedRules Parse(const char* text) {
    return ParseRules(text, "rules.yaml");
  }
  [[nodiscard]] std::string Scrape() const { return metrics->Serialize({}); }
};

TEST(RuleLoader, CountsNoReloadAtTheStart) {
  Loaded loaded;
  const std::string hash = Loaded::Parse(kTwoRules).hash;
  EXPECT_EQ(loaded.loader.Describe(), "2 rules (hash " + hash + ")");
  EXPECT_EQ(loaded.loader.in_force().hash, hash);
  EXPECT_EQ(loaded.loader.in_force().rules, loaded.limiter.rules());
  EXPECT_THAT(
      loaded.Scrape(),
      AllOf(HasSubstr("tollgate_rules_reloads_total{result=\"success\"} 0\n"),
            HasSubstr("tollgate_rules_reloads_total{result=\"failure\"} 0\n"),
            HasSubstr("tollgate_rules_last_reload_successful 1\n"),
            HasSubstr("tollgate_rules_last_reload_timestamp_seconds "
                      "1700000000.5\n")));
  EXPECT_EQ(loaded.log.Take(), "");
}

TEST(RuleLoader, BringsNewRulesIntoForceAndSaysSo) {
  Loaded loaded;
  const std::string old_hash = loaded.loader.in_force().hash;
  loaded.clock.Advance(2'000'000'000);
  loaded.loader.Reload(Loaded::Parse(kOneRule));
  const std::string hash = Loaded::Parse(kOneRule).hash;
  EXPECT_EQ(loaded.limiter.rules()->size(), 1U);
  EXPECT_EQ(loaded.loader.in_force().hash, hash);
  EXPECT_EQ(loaded.loader.in_force().rules, loaded.limiter.rules());
  EXPECT_EQ(loaded.log.Take(), "info reloaded: 1 rules (hash " + hash + ")\n");
  EXPECT_THAT(
      loaded.Scrape(),
      AllOf(HasSubstr("tollgate_rules_info{hash=\"" + hash + "\"} 1\n"),
            Not(HasSubstr(old_hash)),
            HasSubstr("tollgate_rules_reloads_total{result=\"success\"} 1\n"),
            HasSubstr("tollgate_rules_last_reload_timestamp_seconds "
                      "1700000002.5\n")));
}

TEST(RuleLoader, KeepsTheRulesInForceOfABadFileAndWarnsOnceOfAllMistakes) {
  Loaded loaded;
  const std::string hash = loaded.loader.in_force().hash;
  loaded.clock.Advance(2'000'000'000);
  loaded.loader.Reload(Loaded::Parse(kTwoMistakes));
  EXPECT_EQ(loaded.limiter.rules()->size(), 2U);
  EXPECT_EQ(loaded.loader.in_force().hash, hash);
  const auto mistakes =
      AllOf(HasSubstr("rules.yaml:3:"), HasSubstr("rules[0].limit"),
            HasSubstr("rules.yaml:4:"));
  EXPECT_THAT(
      loaded.log.Take(),
      AllOf(HasSubstr("warning cannot reload, 2 rules (hash "), mistakes));
  EXPECT_THAT(loaded.loader.Describe(),
              AllOf(HasSubstr("2 rules (hash " + hash + ")\n"),
                    HasSubstr("the last reload failed"), mistakes));
  EXPECT_THAT(
      loaded.Scrape(),
      AllOf(HasSubstr("tollgate_rules_info{hash=\"" + hash + "\"} 1\n"),
            HasSubstr("tollgate_rules_reloads_total{result=\"failure\"} 1\n"),
            HasSubstr("tollgate_rules_last_reload_successful 0\n"),
            HasSubstr("tollgate_rules_last_reload_timestamp_seconds "
                      "1700000002.5\n")));

  loaded.loader.Reload(Loaded::Parse(kTwoMistakes));
  EXPECT_THAT(loaded.log.Take(),
              AllOf(HasSubstr("info "), Not(HasSubstr("rules.yaml"))));
  EXPECT_THAT(loaded.Scrape(), HasSubstr("{result=\"failure\"} 2\n"));
}

TEST(RuleLoader, ForgetsAFailureOnceAReloadIsGoodAgain) {
  Loaded loaded;
  loaded.loader.Reload(Loaded::Parse(kTwoMistakes));
  loaded.loader.Reload(Loaded::Parse(kTwoRules));
  EXPECT_THAT(loaded.loader.Describe(), Not(HasSubstr("failed")));
  EXPECT_THAT(loaded.Scrape(),
              HasSubstr("tollgate_rules_last_reload_successful 1\n"));
  loaded.log.Take();
  loaded.loader.Reload(Loaded::Parse(kTwoMistakes));
  EXPECT_THAT(loaded.log.Take(), HasSubstr("warning cannot reload"));
}

}  // namespace
}  // namespace tollgate
