#ifndef TOLLGATE_TESTS_CLIENT_FAKE_BATCH_TRANSPORT_H_
#define TOLLGATE_TESTS_CLIENT_FAKE_BATCH_TRANSPORT_H_

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "client/batch_transport.h"
#include "server/base/clock.h"
#include "server/base/mutex.h"

namespace tollgate::client {

// A message that the test has seen and not yet answered.
struct Message {
  std::vector<Question> questions;
  absl::Duration timeout;
  ReplyHandler* single = nullptr;  // of a call of its own
  BatchHandler* batch = nullptr;   // of several
  int64_t until_ns = 0;            // its deadline

  // Answers each question with what `answer` makes of it.
  void AnswerWith(const std::function<Answer(const Question&)>& answer) const {
    std::vector<Answer> answers;
    answers.reserve(questions.size());
    for (const Question& question : questions) {
      answers.push_back(answer(question));
    }
    if (single != nullptr) {
      single->OnReply(answers[0].status, std::move(answers[0].decision));
    } else {
      batch->OnBatch(absl::MakeSpan(answers));
    }
  }
  // Answers each with a decision whose ticket is the question's domain.
  void AnswerAll(const absl::Status& status = absl::OkStatus()) const {
    AnswerWith([&](const Question& question) {
      Answer answer{status, {}};
      answer.decision.ticket = question.request.domain;
      return answer;
    });
  }
};

// What the test sees of the transport. Outlives it.
struct BatchWire {
  explicit BatchWire(FakeClock& fake_clock) : clock(fake_clock) {}

  Message Pop() {
    MutexLock lock(mutex);
    Message message = std::move(out.front());
    out.pop_front();
    return message;
  }
  size_t out_count() {
    MutexLock lock(mutex);
    return out.size();
  }

  // Lets time pass: wakes whoever is due and ends messages whose deadline has
  // come, each at its instant.
  void Advance(int64_t ns) {
    const int64_t until_ns = clock.NowNs() + ns;
    for (int64_t next_ns = NextEvent(); next_ns <= until_ns;
         next_ns = NextEvent()) {
      clock.Set(std::max(clock.NowNs(), next_ns));
      if (wake != nullptr && wake_at_ns == next_ns) {
        std::exchange(wake, nullptr)->OnWake();
      } else {
        PopLate(next_ns).AnswerAll(absl::DeadlineExceededError("late"));
      }
    }
    clock.Set(until_ns);
  }
  int64_t NextEvent() {
    MutexLock lock(mutex);
    int64_t next_ns =
        wake == nullptr ? std::numeric_limits<int64_t>::max() : wake_at_ns;
    for (const Message& message : out) {
      next_ns = std::min(next_ns, message.until_ns);
    }
    return next_ns;
  }
  Message PopLate(int64_t until_ns) {
    MutexLock lock(mutex);
    const auto at = std::find_if(out.begin(), out.end(), [&](const Message& m) {
      return m.until_ns == until_ns;
    });
    Message message = std::move(*at);
    out.erase(at);
    return message;
  }

  FakeClock& clock;
  // Answers within Send where it returns true.
  std::function<bool(const Message&)> answers_at_once;
  // Sees every message.
  std::function<void(const Message&)> sees;
  Mutex mutex;
  std::deque<Message> out ABSL_GUARDED_BY(mutex);
  // Of the thread of the test.
  WakeHandler* wake = nullptr;
  int64_t wake_at_ns = 0;
  bool stopped = false;
};

class FakeBatchTransport final : public BatchTransport {
 public:
  explicit FakeBatchTransport(BatchWire& wire) : wire_(wire) {}

  void Send(const Request& request, uint32_t cost, absl::Duration timeout,
            ReplyHandler& handler) override {
    Add({{{request, cost}}, timeout, &handler, nullptr});
  }
  void SendBatch(absl::Span<const Question> questions, absl::Duration timeout,
                 BatchHandler& handler) override {
    Add({{questions.begin(), questions.end()}, timeout, nullptr, &handler});
  }
  void WakeIn(absl::Duration delay, WakeHandler& handler) override {
    MutexLock lock(wire_.mutex);
    wire_.wake = &handler;
    wire_.wake_at_ns = wire_.clock.NowNs() + absl::ToInt64Nanoseconds(delay);
  }
  void SendRelease(const std::string& ticket, absl::Duration timeout,
                   ReplyHandler& handler) override {
    Add({{{{ticket, {}}, 0}}, timeout, &handler, nullptr});
  }
  void SendRefund(const Request& request, uint32_t cost,
                  absl::Time /*decided_at*/, absl::string_view /*overflow*/,
                  absl::Duration timeout, ReplyHandler& handler) override {
    Add({{{request, cost}}, timeout, &handler, nullptr});
  }
  void Stop() override {
    wire_.stopped = true;
    while (wire_.out_count() > 0) {
      wire_.Pop().AnswerAll(absl::CancelledError("stopped"));
    }
    wire_.wake = nullptr;
  }

 private:
  void Add(Message message) {
    if (wire_.sees) wire_.sees(message);
    if (wire_.stopped) {
      message.AnswerAll(absl::CancelledError("stopped"));
      return;
    }
    if (wire_.answers_at_once && wire_.answers_at_once(message)) {
      message.AnswerAll();
      return;
    }
    message.until_ns =
        wire_.clock.NowNs() + absl::ToInt64Nanoseconds(message.timeout);
    MutexLock lock(wire_.mutex);
    wire_.out.push_back(std::move(message));
  }

  BatchWire& wire_;
};

}  // namespace tollgate::client

#endif  // TOLLGATE_TESTS_CLIENT_FAKE_BATCH_TRANSPORT_H_
