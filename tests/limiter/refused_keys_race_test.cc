// Threads that are refused while others read, sweep and reload. To be run under
// the thread sanitizer too.
#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "server/base/clock.h"
#include "server/limiter/limiter.h"
#include "tests/limiter/ask.h"
#include "tests/limiter/limits.h"

namespace tollgate {
namespace {

std::vector<Rule> Rules(bool more) {
  std::vector<Rule> rules = {MakeRule("per-user", {"user"}, {PerHour(1)}),
                             MakeRule("all", {}, {PerHour(1)})};
  if (more) rules.push_back(MakeRule("later", {"user"}, {PerHour(1)}));
  return rules;
}

TEST(RefusedKeysRace, EveryRefusalIsCountedOrMissed) {
  FakeClock clock(kStart);
  Limiter limiter(
      clock,
      LimiterOptions{.refused_keys = {.mode = RefusedKeysOptions::Mode::kOn,
                                      .keys_per_rule = 8}});
  SetRules(limiter, Rules(false));
  std::atomic<uint64_t> refused{0};
  std::atomic<bool> done{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 5000; ++i) {
        const std::string user = std::to_string((i * t) % 20);
        const Decision decision = AskFor(limiter, {{"user", user}});
        for (const RuleStatus& status : decision.statuses) {
          if (status.outcome == Outcome::kRefused) ++refused;
        }
      }
    });
  }
  std::thread reader([&] {
    for (bool more = true; !done; more = !more) {
      SetRules(limiter, Rules(more));
      limiter.Sweep(10);
      const auto report = limiter.ReportRefusedKeys({"", "", 10, 10});
      for (const RefusedRule& rule : report->rules) {
        for (const HeavyKey& key : rule.keys) EXPECT_LE(key.count, rule.total);
      }
      std::this_thread::yield();
    }
  });
  for (std::thread& thread : threads) thread.join();
  done = true;
  reader.join();

  const auto report = limiter.ReportRefusedKeys({"", "", 10, 10});
  uint64_t counted = report->missed;
  for (const RefusedRule& rule : report->rules) counted += rule.total;
  EXPECT_EQ(counted, refused);
}

}  // namespace
}  // namespace tollgate
