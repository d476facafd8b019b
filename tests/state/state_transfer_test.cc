#include "server/state/state_transfer.h"

#include <atomic>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/state/block.h"
#include "tests/state/lives.h"
#include "tests/support/seeds.h"
#include "tests/support/status_matchers.h"

namespace tollgate {
namespace {

// A file in which ana has spent seven of each rule's ten.
std::string SevenOfTen() {
  Life life(kStart);
  for (const absl::string_view name : AlgorithmNames()) {
    for (int i = 0; i < 7; ++i) life.Ask(std::string(name), "ana");
  }
  return life.Save();
}

// Whatever was restored, nobody gets more than ten, or waits for more than two
// windows.
void ExpectWithinLimits(Life& life) {
  for (const absl::string_view name : AlgorithmNames()) {
    EXPECT_LE(life.Drain(std::string(name), "ana"), 10);
    EXPECT_LE(AskFor(life.limiter(), {{name, "ana"}}).retry_after_ns,
              2 * 3600 * kSecond);
  }
}

TEST(StateTransfer, BringsBackEveryAlgorithm) {
  Life life(kStart + 1);
  const state::RestoreReport report = life.Restore(SevenOfTen());

  EXPECT_EQ(report.restored, 6u);
  EXPECT_EQ(report.rules, 6u);
  EXPECT_EQ(report.full + report.invalid + report.other_rules, 0u);
  EXPECT_EQ(report.bad_blocks, 0u);
  EXPECT_TRUE(report.complete);
  for (const absl::string_view name : AlgorithmNames()) {
    EXPECT_EQ(life.Drain(std::string(name), "ana"), 3) << name;
    EXPECT_EQ(life.Drain(std::string(name), "bob"), 10) << name;
  }
}

TEST(StateTransfer, OfNothingIsComplete) {
  Life life(kStart);
  const state::RestoreReport report = life.Restore(Life(kStart).Save());
  EXPECT_TRUE(report.complete);
  EXPECT_EQ(report.restored, 0u);
}

TEST(StateTransfer, CountsBucketsOfOtherRules) {
  std::vector<Rule> rules = OneOfEach();
  rules.pop_back();
  Life life(kStart, rules);
  const state::RestoreReport report = life.Restore(SevenOfTen());
  EXPECT_EQ(report.restored, 5u);
  EXPECT_EQ(report.other_rules, 1u);
}

TEST(StateTransfer, AByteThatFlipsGivesNobodyMore) {
  const std::string file = SevenOfTen();
  for (size_t i = 0; i < file.size(); ++i) {
    std::string damaged = file;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x41);
    Life life(kStart);
    EXPECT_EQ(life.Restore(damaged).restored % 6, 0u);
    ExpectWithinLimits(life);
  }
}

TEST(StateTransfer, AFileThatEndsAnywhereGivesNobodyMore) {
  const std::string file = SevenOfTen();
  for (size_t size = 0; size < file.size(); ++size) {
    Life life(kStart);
    EXPECT_FALSE(life.Restore(file.substr(0, size)).complete);
    ExpectWithinLimits(life);
  }
}

TEST(StateTransfer, ADamagedBlockTakesNoOtherWithIt) {
  const std::string file = SevenOfTen();
  Life bob(kStart);
  for (int i = 0; i < 7; ++i) bob.Ask("token_bucket", "bob");
  const std::string block = bob.Save().substr(state::kHeaderBytes);
  // Its size lies too, so that the next block must be searched for.
  for (const size_t at : {size_t{8}, size_t{60}}) {
    std::string damaged = file.substr(state::kHeaderBytes);
    damaged[at] = static_cast<char>(damaged[at] ^ 0x15);
    Life life(kStart);
    const state::RestoreReport report = life.Restore(
        file.substr(0, state::kHeaderBytes) + damaged.substr(0, 300) + block);
    EXPECT_EQ(report.bad_blocks, 1u);
    EXPECT_EQ(report.restored, 1u);
    EXPECT_TRUE(report.complete);
    EXPECT_EQ(life.Drain("token_bucket", "bob"), 3);
  }
}

TEST(StateTransfer, GivesUpOnATrap) {
  std::string file = SevenOfTen().substr(0, state::kHeaderBytes);
  for (int i = 0; i < 10'000; ++i) {
    file += state::EncodeBlock(1, 0, "").substr(0, state::kFrameBytes - 1);
  }
  Life life(kStart);
  EXPECT_EQ(life.Restore(file).bad_blocks, 64u);
}

TEST(StateTransfer, StopsAtTheFirstErrorOfTheSink) {
  Life life(kStart);
  int calls = 0;
  const auto count = state::WriteState(life.limiter(), life.clock(), kLifeKey,
                                       [&calls](absl::string_view) {
                                         ++calls;
                                         return absl::UnavailableError("full");
                                       });
  EXPECT_THAT(count.status(),
              StatusIs(absl::StatusCode::kUnavailable, testing::_));
  EXPECT_EQ(calls, 1);
}

TEST(StateTransfer, ALimiterThatRestartsDecidesAsOneThatDoesNot) {
  std::mt19937 random(SeedOf(kNewSeed));
  Life steady(kStart);
  auto restarted = std::make_unique<Life>(kStart);
  const std::vector<absl::string_view> names = AlgorithmNames();
  for (int step = 0; step < 5000; ++step) {
    const auto pause_ns = static_cast<int64_t>(random() % (300 * kSecond));
    steady.clock().Advance(pause_ns);
    restarted->clock().Advance(pause_ns);
    if (random() % 4 == 0) restarted->limiter().Sweep(8);
    if (random() % 50 == 0) {
      const std::string file = restarted->Save();
      auto next = std::make_unique<Life>(steady.clock().NowNs());
      ASSERT_TRUE(next->Restore(file).complete);
      restarted = std::move(next);
    }
    const std::vector<Entry> entries = {
        {names[random() % names.size()], random() % 2 == 0 ? "ana" : "bob"}};
    const uint64_t cost = 1 + random() % 4;
    const Decision want = AskFor(steady.limiter(), entries, cost);
    const Decision got = AskFor(restarted->limiter(), entries, cost);
    ASSERT_EQ(got.outcome, want.outcome) << step;
    ASSERT_EQ(got.retry_after_ns, want.retry_after_ns) << step;
    ASSERT_EQ(got.statuses.at(0).remaining, want.statuses.at(0).remaining);
  }
}

TEST(StateTransfer, SavesWhileOthersDecide) {
  Life life(kStart);
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; !stop; ++i) {
        life.Ask("sliding_log", std::to_string(i % 50));
        life.Ask("token_bucket", std::to_string(t * 1000 + i % 300));
        if (i % 100 == 0) life.limiter().Sweep(100);
      }
    });
  }
  for (int i = 0; i < 20; ++i) {
    Life next(kStart);
    ASSERT_TRUE(next.Restore(life.Save()).complete);
    for (int user = 0; user < 50; ++user) {
      ASSERT_LE(next.Drain("sliding_log", std::to_string(user)), 10);
    }
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace tollgate
