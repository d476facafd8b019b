#include "server/redis/redis_runner.h"

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/redis/key_slot.h"
#include "tests/redis/runner_fixture.h"
#include "tests/support/redis_process.h"
#include "tests/support/status_matchers.h"

namespace tollgate::redis {
namespace {

using ::testing::HasSubstr;

TEST(RedisRunner, RunsAScriptAsSoonAsItIsMade) {
  const RedisProcess redis;
  TestRunner runner(redis.url());
  const auto reply = runner.Echo("hello");
  ASSERT_THAT(reply, IsOk());
  EXPECT_EQ(reply->text, "hello");
  EXPECT_TRUE(runner.BecomesReady());
  EXPECT_EQ(runner.counters().answers(), 1U);
  EXPECT_EQ(runner.runner().PartitionOf("a"), runner.runner().PartitionOf("b"));
}

TEST(RedisRunner, GivesEachOfManyThreadsItsOwnAnswers) {
  const RedisProcess redis;
  TestRunner runner(redis.url());
  std::vector<std::thread> threads;
  for (int t = 0; t < 16; ++t) {
    threads.emplace_back([&runner, t] {
      for (int round = 0; round < 10; ++round) {
        std::vector<std::future<absl::StatusOr<Reply>>> replies;
        for (int i = 0; i < 20; ++i) {
          replies.push_back(runner.Start(TestRunner::kEcho, "key",
                                         absl::StrCat(t, ".", round, ".", i)));
        }
        for (int i = 0; i < 20; ++i) {
          const auto reply = replies[static_cast<size_t>(i)].get();
          ASSERT_THAT(reply, IsOk());
          ASSERT_EQ(reply->text, absl::StrCat(t, ".", round, ".", i));
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(runner.counters().answers(), 3200U);
  EXPECT_LE(runner.counters().connections_made(), 2U);
}

TEST(RedisRunner, RunsOnceWhatItWasAskedOnce) {
  const RedisProcess redis;
  TestRunner runner(redis.url());
  std::vector<std::future<absl::StatusOr<Reply>>> replies;
  for (int i = 0; i < 500; ++i) {
    if (i == 250) redis.Cli("script flush");
    replies.push_back(runner.Start(TestRunner::kAdd, "sum", "1"));
  }
  for (auto& reply : replies) EXPECT_THAT(reply.get(), IsOk());
  EXPECT_EQ(redis.Cli("get sum"), "500");
}

TEST(RedisRunner, SendsAScriptAgainThatWasFlushed) {
  const RedisProcess redis;
  TestRunner runner(redis.url());
  ASSERT_THAT(runner.Echo("before"), IsOk());
  redis.Cli("script flush");
  const auto reply = runner.Echo("after");
  ASSERT_THAT(reply, IsOk());
  EXPECT_EQ(reply->text, "after");
  EXPECT_EQ(runner.counters().errors(RunError::kNoScript), 0U);
}

TEST(RedisRunner, NamesTheErrorsOfRedis) {
  const RedisProcess redis;
  TestRunner runner(redis.url());
  redis.Cli("lpush list 1");
  EXPECT_THAT(
      runner.Run(TestRunner::kAdd, "list", "1"),
      StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("WRONGTYPE")));
  EXPECT_EQ(runner.counters().errors(RunError::kWrongType), 1U);
  redis.Cli("config set maxmemory 1");
  EXPECT_THAT(
      runner.Run(TestRunner::kAdd, "sum", "1"),
      StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("OOM")));
  EXPECT_EQ(runner.counters().errors(RunError::kOom), 1U);
  redis.Cli("config set maxmemory 0");
  EXPECT_THAT(runner.Run(TestRunner::kAdd, "sum", "1"), IsOk());
}

TEST(RedisRunner, TurnsAwayWhatIsLateAlready) {
  const RedisProcess redis;
  TestRunner runner(redis.url());
  EXPECT_THAT(runner.Echo("x", absl::ZeroDuration()),
              StatusIs(absl::StatusCode::kDeadlineExceeded, HasSubstr("")));
}

TEST(RedisRunner, BoundsWhatIsUnderWay) {
  const RedisProcess redis;
  RedisOptions options = TestRunner::OptionsOf(redis.url());
  options.max_pending = 10;
  TestRunner runner(options);
  ASSERT_THAT(runner.Echo("x"), IsOk());
  redis.Pause();
  std::vector<std::future<absl::StatusOr<Reply>>> replies;
  for (int i = 0; i < 10; ++i) {
    replies.push_back(runner.Start(TestRunner::kEcho, "key", "x"));
  }
  EXPECT_THAT(runner.Echo("x"),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("too many")));
  EXPECT_EQ(runner.counters().errors(RunError::kQueueFull), 1U);
  redis.Continue();
  for (auto& reply : replies) EXPECT_THAT(reply.get(), IsOk());
  EXPECT_THAT(runner.Echo("x"), IsOk());
}

// Deadlines pass while answers are owed, which come all the same.
TEST(RedisRunner, KeepsThePlacesOfRunsThatAreLate) {
  const RedisProcess redis;
  RedisOptions options = TestRunner::OptionsOf(redis.url());
  TestRunner runner(options);
  ASSERT_THAT(runner.Echo("x"), IsOk());
  redis.Pause();
  auto late =
      runner.Start(TestRunner::kEcho, "key", "late", absl::Milliseconds(20));
  auto patient = runner.Start(TestRunner::kEcho, "key", "patient");
  const auto late_reply = late.get();  // long before its answer can come
  EXPECT_THAT(late_reply, StatusIs(absl::StatusCode::kDeadlineExceeded,
                                   HasSubstr("no answer in time")));
  redis.Continue();
  const auto reply = patient.get();
  ASSERT_THAT(reply, IsOk());
  EXPECT_EQ(reply->text, "patient");
}

TEST(RedisRunner, FinishesEverythingBeforeItIsGone) {
  const RedisProcess redis;
  std::vector<std::future<absl::StatusOr<Reply>>> replies;
  {
    RedisOptions options = TestRunner::OptionsOf(redis.url());
    TestRunner runner(options);
    ASSERT_THAT(runner.Echo("x"), IsOk());
    redis.Pause();
    for (int i = 0; i < 100; ++i) {
      replies.push_back(runner.Start(TestRunner::kEcho, "key", "x"));
    }
  }
  for (auto& reply : replies) {
    EXPECT_THAT(reply.get(),
                StatusIs(absl::StatusCode::kUnavailable, HasSubstr("")));
  }
}

TEST(RedisRunner, StartsWithoutRedisAndFindsItLater) {
  RedisProcess redis;
  redis.Kill();
  TestRunner runner(redis.url());
  EXPECT_THAT(runner.Echo("x"), StatusIs(absl::StatusCode::kUnavailable,
                                         HasSubstr("not connected")));
  EXPECT_FALSE(runner.runner().is_ready());
  redis.Restart();
  EXPECT_TRUE(runner.BecomesReady());
  EXPECT_THAT(runner.Echo("x"), IsOk());
}

TEST(RedisRunner, FindsAServerByItsName) {
  const RedisProcess redis;
  TestRunner runner(absl::StrCat("redis://localhost:", redis.port()));
  EXPECT_TRUE(runner.Recovers());
}

TEST(RedisRunner, SaysWhichNameThereIsNot) {
  // Longer than any label: nobody's name server is asked.
  const std::string name(64, 'x');
  TestRunner runner(absl::StrCat("redis://", name, ":1"));
  EXPECT_THAT(runner.Echo("x"),
              StatusIs(absl::StatusCode::kUnavailable,
                       HasSubstr(absl::StrCat(name, ":1: no such host"))));
}

TEST(RedisRunner, LoadsItsScriptsIntoARestartedServer) {
  RedisProcess redis;
  TestRunner runner(redis.url());
  ASSERT_THAT(runner.Echo("x"), IsOk());
  redis.Kill();
  EXPECT_TRUE(runner.BecomesReady(false));
  redis.Restart();
  EXPECT_TRUE(runner.Recovers());
  EXPECT_EQ(runner.counters().errors(RunError::kNoScript), 0U);
  EXPECT_GE(runner.counters().connections_lost(), 1U);
}

TEST(RedisRunner, LogsInAndSaysWhyItCannot) {
  RedisProcess redis;
  redis.Cli("acl setuser limiter on '>hush' '~*' +@all");
  redis.Cli("acl setuser default off");
  TestRunner right(
      absl::StrCat("redis://limiter:hush@127.0.0.1:", redis.port()));
  EXPECT_THAT(right.Echo("x"), IsOk());
  TestRunner wrong(
      absl::StrCat("redis://limiter:wrong@127.0.0.1:", redis.port()));
  EXPECT_THAT(wrong.Echo("x"), StatusIs(absl::StatusCode::kUnavailable,
                                        HasSubstr("AUTH: WRONGPASS")));
  TestRunner none(redis.url());
  EXPECT_THAT(none.Echo("x"),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("NOAUTH")));
}

// Of a user that has no more than the README of server/redis says.
TEST(RedisRunner, SaysWhatItsUserMayNotDo) {
  RedisProcess redis;
  redis.Cli(
      "acl setuser limiter on '>hush' '~tollgate:*' -@all +evalsha +eval "
      "'+script|load' +incrby");
  TestRunner runner(
      absl::StrCat("redis://limiter:hush@127.0.0.1:", redis.port()));
  EXPECT_THAT(runner.Run(TestRunner::kAdd, "tollgate:a", "1"), IsOk());
  EXPECT_THAT(
      runner.Run(TestRunner::kAdd, "other", "1"),
      StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("NOPERM")));
}

TEST(RedisRunner, UsesTheOneThatIsNoReplica) {
  const RedisProcess primary;
  const RedisProcess replica(
      {"--replicaof", absl::StrCat("127.0.0.1 ", primary.port())});
  TestRunner runner(absl::StrCat("redis://127.0.0.1:", replica.port(),
                                 ",127.0.0.1:", primary.port()));
  ASSERT_TRUE(runner.Recovers());
  ASSERT_THAT(runner.Run(TestRunner::kAdd, "sum", "1"), IsOk());
  EXPECT_EQ(primary.Cli("get sum"), "1");
  // They change places: what it is connected to is read-only now.
  replica.Cli("replicaof no one");
  primary.Cli(absl::StrCat("replicaof 127.0.0.1 ", replica.port()));
  EXPECT_TRUE(WaitUntil(
      [&] { return runner.Run(TestRunner::kAdd, "more", "1").ok(); }));
  EXPECT_NE(replica.Cli("get more"), "");
}

TEST(RedisRunner, TakesNoOptionsOutOfRange) {
  const SteadyClock clock;
  RunCounters counters;
  const auto code_of = [&](void (*change)(RedisOptions&)) {
    RedisOptions options = *ParseRedisUrl("redis://127.0.0.1:1");
    change(options);
    return MakeRedisRunner(options, {}, clock, counters).status().code();
  };
  for (auto* const change : std::vector<void (*)(RedisOptions&)>{
           [](RedisOptions& o) { o.seeds.clear(); },
           [](RedisOptions& o) { o.connections = 0; },
           [](RedisOptions& o) { o.connections = 17; },
           [](RedisOptions& o) { o.max_pending = 0; },
           [](RedisOptions& o) { o.stall = absl::ZeroDuration(); },
           [](RedisOptions& o) { o.max_backoff = absl::ZeroDuration(); }}) {
    EXPECT_EQ(code_of(change), absl::StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(code_of([](RedisOptions&) {}), absl::StatusCode::kOk);
}

}  // namespace
}  // namespace tollgate::redis
