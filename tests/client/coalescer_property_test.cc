// Whatever the transport does, every call is answered exactly once, by its
// deadline, with its own answer; and calls go out in the order they came.
#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <random>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "client/coalescer.h"
#include "gtest/gtest.h"
#include "tests/client/fake_batch_transport.h"

namespace tollgate::client {
namespace {

constexpr int kSteps = 20'000;
constexpr int64_t kStartNs = 1'700'000'000'000'000'000;

class Simulation {
 public:
  explicit Simulation(uint64_t seed)
      : random_(seed),
        options_{.max_batch = Number(2, 8),
                 .max_batch_bytes = Number(60, 600),
                 .max_out = Number(1, 3)},
        coalescer_(options_, clock_,
                   std::make_unique<FakeBatchTransport>(wire_)) {
    wire_.sees = [this](const Message& message) { CheckSent(message); };
    wire_.answers_at_once = [this](const Message&) {
      return Number(0, 9) == 0;
    };
  }

  void Run() {
    for (int step = 0; step < kSteps; ++step) Step();
    coalescer_.Stop();
    for (const Call& call : calls_) ASSERT_EQ(call.answers, 1);
  }

 private:
  struct Call final : ReplyHandler {
    Call(Simulation& of, size_t number, int64_t until_ns, bool hurried)
        : simulation(of),
          id(number),
          deadline_ns(until_ns),
          is_short(hurried) {}
    void OnReply(const absl::Status& status, Decision decision) override {
      simulation.CheckAnswer(*this, status, decision);
    }
    Simulation& simulation;
    const size_t id;
    const int64_t deadline_ns;
    const bool is_short;  // it may overtake: most calls have another timeout
    int answers = 0;
  };

  void Step() {
    switch (Number(0, 5)) {
      case 0:
      case 1:
      case 2:
        return Ask();
      case 3:
        return AnswerAny();
      case 4:
        wire_.Advance(0);  // who is late now, is not later than that
        overslept_ns_ = 0;
        return wire_.Advance(Number(0, 3'000'000));
      default:
        OverSleep(Number(0, 100'000));
        return AnswerAny();
    }
  }

  void OverSleep(int64_t ns) {
    overslept_ns_ += ns;
    clock_.Advance(ns);
  }

  void Ask() {
    const bool is_short = Number(0, 9) == 0;
    const int64_t timeout_ns = is_short ? 3'000'000 : 15'000'000;
    calls_.emplace_back(*this, calls_.size(), clock_.NowNs() + timeout_ns,
                        is_short);
    const std::string id = absl::StrCat(calls_.back().id);
    coalescer_.Send({id, {{{"k", std::string(Number(0, 99), 'v')}}}, 1}, 1,
                    absl::Nanoseconds(timeout_ns), calls_.back());
  }

  void AnswerAny() {
    const size_t out = wire_.out_count();
    if (out == 0) return;
    for (size_t skip = Number(0, static_cast<uint32_t>(out - 1)); skip > 0;
         --skip) {
      MutexLock lock(wire_.mutex);
      wire_.out.push_back(std::move(wire_.out.front()));
      wire_.out.pop_front();
    }
    const bool fails = Number(0, 7) == 0;
    wire_.Pop().AnswerAll(fails ? absl::UnavailableError("gone")
                                : absl::OkStatus());
  }

  void CheckSent(const Message& message) {
    EXPECT_LE(message.questions.size(), options_.max_batch);
    EXPECT_GT(message.timeout, absl::ZeroDuration());
    for (const Question& question : message.questions) {
      uint64_t id = 0;
      ASSERT_TRUE(absl::SimpleAtoi(question.request.domain, &id));
      if (!calls_[id].is_short) {
        EXPECT_GE(id, next_id_);
        next_id_ = id + 1;
      }
      EXPECT_EQ(calls_[id].answers, 0);
    }
  }

  void CheckAnswer(Call& call, const absl::Status& status,
                   const Decision& decision) {
    ++call.answers;
    EXPECT_EQ(call.answers, 1);
    EXPECT_LE(clock_.NowNs(), call.deadline_ns + overslept_ns_);
    if (status.ok()) EXPECT_EQ(decision.ticket, absl::StrCat(call.id));
    if (Number(0, 3) == 0) Ask();
  }

  uint32_t Number(uint32_t least, uint32_t most) {
    return std::uniform_int_distribution<uint32_t>(least, most)(random_);
  }

  std::mt19937_64 random_;
  FakeClock clock_{kStartNs};
  BatchWire wire_{clock_};
  const CoalescerOptions options_;
  std::deque<Call> calls_;
  size_t next_id_ = 0;
  int64_t overslept_ns_ = 0;  // a wake that is due comes at the next Advance
  Coalescer coalescer_;
};

TEST(CoalescerProperty, AnswersEveryCallOnceInTimeAndSendsInOrder) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Simulation(seed).Run();
  }
}

}  // namespace
}  // namespace tollgate::client
