#include "client/coalescer.h"

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/client/fake_batch_transport.h"
#include "tests/support/status_matchers.h"

namespace tollgate::client {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr int64_t kStartNs = 1'700'000'000'000'000'000;
constexpr int64_t kMs = 1'000'000;
constexpr absl::Duration kTimeout = absl::Milliseconds(20);

Request Named(const std::string& name) {
  return {name, {{{"user", "ana"}}}, 1};
}

// One call: how often it was answered, and with what.
struct Call final : ReplyHandler {
  void OnReply(const absl::Status& reply, Decision decision) override {
    ++answers;
    status = reply;
    ticket = decision.ticket;
    if (then) then();
  }
  int answers = 0;
  absl::Status status;
  std::string ticket;
  std::function<void()> then;
};

struct Fixture {
  explicit Fixture(const CoalescerOptions& options = {.max_out = 1})
      : coalescer(options, clock, std::make_unique<FakeBatchTransport>(wire)) {}

  Call& Ask(const std::string& name, absl::Duration timeout = kTimeout) {
    calls.emplace_back();
    coalescer.Send(Named(name), 1, timeout, calls.back());
    return calls.back();
  }
  static std::vector<std::string> Names(const Message& message) {
    std::vector<std::string> names;
    for (const Question& question : message.questions) {
      names.push_back(question.request.domain);
    }
    return names;
  }

  FakeClock clock{kStartNs};
  BatchWire wire{clock};
  std::deque<Call> calls;
  Coalescer coalescer;
};

TEST(Coalescer, SendsTheFirstCallAtOnceAndAsItIs) {
  Fixture test;
  const Call& call = test.Ask("a");
  const Message message = test.wire.Pop();
  EXPECT_NE(message.single, nullptr);
  EXPECT_EQ(message.timeout, kTimeout);
  EXPECT_THAT(Fixture::Names(message), ElementsAre("a"));
  message.AnswerAll();
  EXPECT_EQ(call.answers, 1);
  EXPECT_EQ(call.ticket, "a");
}

TEST(Coalescer, SendsAtOnceUpToMaxOutAndThenGathers) {
  Fixture test({.max_out = 2});
  test.Ask("a");
  test.Ask("b");
  EXPECT_EQ(test.wire.out_count(), 2);
  test.Ask("c");
  EXPECT_EQ(test.wire.out_count(), 2);
}

TEST(Coalescer, SendsWhatGatheredTogetherAndInOrderWhenAnAnswerComes) {
  Fixture test;
  test.Ask("a");
  const Call& b = test.Ask("b");
  const Call& c = test.Ask("c");
  test.wire.Pop().AnswerAll();
  const Message batch = test.wire.Pop();
  EXPECT_NE(batch.batch, nullptr);
  EXPECT_THAT(Fixture::Names(batch), ElementsAre("b", "c"));
  EXPECT_EQ(b.answers, 0);
  batch.AnswerAll();
  EXPECT_EQ(b.ticket, "b");
  EXPECT_EQ(c.ticket, "c");
}

TEST(Coalescer, SendsOneCallThatGatheredAsItIs) {
  Fixture test;
  test.Ask("a");
  test.Ask("b");
  test.wire.Pop().AnswerAll();
  EXPECT_NE(test.wire.Pop().single, nullptr);
}

TEST(Coalescer, KeepsTheCostOfEachCall) {
  Fixture test;
  test.Ask("a");
  std::deque<Call> calls(2);
  test.coalescer.Send(Named("b"), 0, kTimeout, calls[0]);
  test.coalescer.Send(Named("c"), 7, kTimeout, calls[1]);
  test.wire.Pop().AnswerAll();
  const Message batch = test.wire.Pop();
  EXPECT_EQ(batch.questions[0].cost, 0);
  EXPECT_EQ(batch.questions[1].cost, 7);
  batch.AnswerAll();
}

TEST(Coalescer, ABadRequestFailsAlone) {
  Fixture test;
  test.Ask("a");
  const Call& bad = test.Ask("bad");
  const Call& good = test.Ask("good");
  test.wire.Pop().AnswerAll();
  test.wire.Pop().AnswerWith([](const Question& question) {
    if (question.request.domain == "good") return Answer{};
    return Answer{absl::InvalidArgumentError("cost: odd"), {}};
  });
  EXPECT_THAT(bad.status,
              StatusIs(absl::StatusCode::kInvalidArgument, "cost: odd"));
  EXPECT_THAT(good.status, IsOk());
}

TEST(Coalescer, ABatchThatFailsFailsEachOfItsCalls) {
  Fixture test;
  test.Ask("a");
  const Call& b = test.Ask("b");
  const Call& c = test.Ask("c");
  test.wire.Pop().AnswerAll();
  test.wire.Pop().AnswerAll(absl::UnavailableError("gone"));
  EXPECT_TRUE(absl::IsUnavailable(b.status));
  EXPECT_TRUE(absl::IsUnavailable(c.status));
}

TEST(Coalescer, ABatchHoldsMaxBatchCallsAndNotOneMore) {
  Fixture test({.max_batch = 3, .max_out = 1});
  test.Ask("first");
  for (const char* name : {"a", "b", "c", "d"}) test.Ask(name);
  test.wire.Pop().AnswerAll();
  const Message full = test.wire.Pop();
  EXPECT_THAT(Fixture::Names(full), ElementsAre("a", "b", "c"));
  full.AnswerAll();
  EXPECT_THAT(Fixture::Names(test.wire.Pop()), ElementsAre("d"));
}

TEST(Coalescer, ABatchHoldsMaxBatchBytesAndNotOneByteMore) {
  // What a question counts: its text and the frames around it.
  constexpr size_t kFrames = 4 * 6 + 6 + 3 * 6;
  constexpr size_t kText = 1 + 4 + 3;
  Fixture fits({.max_batch_bytes = 2 * (kFrames + kText), .max_out = 1});
  for (const char* name : {"a", "b", "c"}) fits.Ask(name);
  fits.wire.Pop().AnswerAll();
  EXPECT_THAT(Fixture::Names(fits.wire.Pop()), ElementsAre("b", "c"));

  Fixture over({.max_batch_bytes = 2 * (kFrames + kText) - 1, .max_out = 1});
  for (const char* name : {"a", "b", "c"}) over.Ask(name);
  over.wire.Pop().AnswerAll();
  EXPECT_THAT(Fixture::Names(over.wire.Pop()), ElementsAre("b"));
}

TEST(Coalescer, ARequestAboveTheBytesOfABatchGoesOnItsOwn) {
  Fixture test({.max_batch_bytes = 200, .max_out = 1});
  test.Ask("a");
  test.Ask("b");
  const std::string large(1000, 'x');
  test.Ask(large);
  test.Ask("c");
  test.wire.Pop().AnswerAll();
  test.wire.Pop().AnswerAll();
  const Message alone = test.wire.Pop();
  EXPECT_THAT(Fixture::Names(alone), ElementsAre(large));
  EXPECT_NE(alone.single, nullptr);
}

TEST(Coalescer, SendsNoCallWhoseDeadlineHasPassed) {
  Fixture test;
  test.Ask("a");
  const Call& late = test.Ask("late", kTimeout);
  test.Ask("b", kTimeout + absl::Nanoseconds(1));
  test.Ask("c", 2 * kTimeout);
  test.clock.Advance(20 * kMs);  // and nobody is woken
  test.wire.Pop().AnswerAll();
  EXPECT_THAT(late.status,
              StatusIs(absl::StatusCode::kDeadlineExceeded, testing::_));
  EXPECT_THAT(Fixture::Names(test.wire.Pop()), ElementsAre("b", "c"));
}

TEST(Coalescer, SendsNothingWhereEveryDeadlineHasPassed) {
  Fixture test;
  test.Ask("a");
  const Call& late = test.Ask("late");
  test.clock.Advance(20 * kMs);
  test.wire.Pop().AnswerAll();
  EXPECT_EQ(late.answers, 1);
  EXPECT_EQ(test.wire.out_count(), 0);
}

TEST(Coalescer, ABatchHasUntilTheLastOfItsDeadlines) {
  Fixture test;
  test.Ask("a");
  test.Ask("b", absl::Milliseconds(30));
  test.Ask("c", absl::Milliseconds(25));
  test.clock.Advance(4 * kMs);
  test.wire.Pop().AnswerAll();
  EXPECT_EQ(test.wire.Pop().timeout, absl::Milliseconds(26));
}

TEST(Coalescer, AnswersACallAtItsDeadlineThoughItsBatchIsOut) {
  Fixture test;
  test.Ask("a");
  const Call& b = test.Ask("b", absl::Milliseconds(25));
  const Call& c = test.Ask("c", absl::Milliseconds(30));
  test.wire.Pop().AnswerAll();
  const Message batch = test.wire.Pop();  // has time until 30 ms
  test.wire.Advance(25 * kMs - 1);
  EXPECT_EQ(b.answers, 0);
  test.wire.Advance(1);
  EXPECT_THAT(b.status,
              StatusIs(absl::StatusCode::kDeadlineExceeded, testing::_));
  EXPECT_EQ(c.answers, 0);
  batch.AnswerAll();  // too late for b
  EXPECT_EQ(b.answers, 1);
  EXPECT_EQ(c.ticket, "c");
}

TEST(Coalescer, AnswersACallThatGathersAtItsDeadline) {
  Fixture test;
  test.Ask("a");
  const Call& b = test.Ask("b");
  test.wire.Advance(20 * kMs - 1);
  EXPECT_EQ(b.answers, 0);
  test.wire.Advance(1);
  EXPECT_EQ(b.answers, 1);
  EXPECT_EQ(test.wire.wake, nullptr) << "nobody waits any more";
  const Call& next = test.Ask("c");
  test.wire.Advance(20 * kMs);
  EXPECT_EQ(next.answers, 1) << "a later call asks for a wake again";
}

TEST(Coalescer, ACallDueBeforeTheNextWakeIsLeftToTheTransport) {
  Fixture test;
  test.Ask("a");
  const Call& hurried = test.Ask("hurried", absl::Milliseconds(5));
  EXPECT_EQ(test.wire.out_count(), 2);
  test.wire.Advance(5 * kMs - 1);
  EXPECT_EQ(hurried.answers, 0);
  test.wire.Advance(1);
  EXPECT_EQ(hurried.answers, 1);
}

TEST(Coalescer, CallsThatHandlersMakeGoTogether) {
  Fixture test;
  test.Ask("a");
  Call& b = test.Ask("b");
  Call& c = test.Ask("c");
  for (Call* call : {&b, &c}) {
    call->then = [&test, call] { test.Ask(call->ticket + "2"); };
  }
  test.wire.Pop().AnswerAll();
  const Message batch = test.wire.Pop();
  EXPECT_THAT(Fixture::Names(batch), ElementsAre("b", "c"));
  batch.AnswerAll();
  EXPECT_THAT(Fixture::Names(test.wire.Pop()), ElementsAre("b2", "c2"));
}

TEST(Coalescer, StopAnswersWhatIsOutAndWhatGathers) {
  Fixture test;
  Call& out = test.Ask("out");
  Call& gathers = test.Ask("gathers");
  Call* again = nullptr;
  gathers.then = [&] { again = &test.Ask("again"); };
  test.coalescer.Stop();
  EXPECT_TRUE(absl::IsCancelled(out.status));
  EXPECT_TRUE(absl::IsCancelled(gathers.status));
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(again->answers, 1);
}

TEST(Coalescer, ReleasesAndRefundsGoAsTheyAre) {
  Call release;  // who is still out when the transport stops is answered
  Call refund;
  Fixture test;
  test.Ask("a");
  test.coalescer.SendRelease("ticket", kTimeout, release);
  test.coalescer.SendRefund(Named("r"), 3, absl::UnixEpoch(), "", kTimeout,
                            refund);
  EXPECT_EQ(test.wire.out_count(), 3);
}

// Threads that ask and wait, and one that answers: as a process has them.
TEST(CoalescerRace, EveryCallOfManyThreadsGetsItsOwnAnswerOnce) {
  struct Waiting final : ReplyHandler {
    void OnReply(const absl::Status& /*status*/, Decision decided) override {
      decision = std::move(decided);
      answers.fetch_add(1);
      answers.notify_one();
    }
    Decision decision;
    std::atomic<int> answers{0};
  };
  constexpr int kThreads = 4;
  constexpr int kCalls = 500;
  FakeClock clock(kStartNs);
  BatchWire wire(clock);
  Coalescer coalescer({.max_batch = 3}, clock,
                      std::make_unique<FakeBatchTransport>(wire));
  std::atomic<bool> done{false};
  std::thread answering([&] {
    while (!done.load()) {
      if (wire.out_count() > 0) {
        wire.Pop().AnswerAll();
      } else {
        std::this_thread::yield();
      }
    }
  });
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kCalls; ++i) {
        Waiting call;
        const std::string name = absl::StrCat(t, "-", i);
        coalescer.Send(Named(name), 1, kTimeout, call);
        call.answers.wait(0);
        EXPECT_EQ(call.decision.ticket, name);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  done = true;
  answering.join();
  coalescer.Stop();
}

}  // namespace
}  // namespace tollgate::client
