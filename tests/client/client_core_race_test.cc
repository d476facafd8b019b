// The client's own logic under many threads, over a fake transport.
#include <condition_variable>
#include <deque>
#include <thread>
#include <vector>

#include "client/client_core.h"
#include "gtest/gtest.h"
#include "tests/client/fake_transport.h"

namespace tollgate::client {
namespace {

// Answers what a fake transport has sent, on a thread of its own.
class Answerer {
 public:
  explicit Answerer(Wire& wire) : wire_(wire), thread_([this] { Run(); }) {
    wire_.answer = [this](const Wire::Sent& sent) {
      MutexLock lock(mutex_);
      queue_.push_back(sent);
      changed_.notify_one();
    };
  }
  ~Answerer() {
    {
      MutexLock lock(mutex_);
      stopping_ = true;
      changed_.notify_one();
    }
    thread_.join();
  }

 private:
  void Run() {
    uint64_t n = 0;
    for (;;) {
      Wire::Sent sent;
      {
        MutexLock lock(mutex_);
        while (queue_.empty() && !stopping_) changed_.wait(mutex_);
        if (queue_.empty()) return;
        sent = queue_.front();
        queue_.pop_front();
      }
      // Every fifth fails, so that both kinds of answer are mixed.
      sent.handler->OnReply(
          ++n % 5 == 0 ? absl::UnavailableError("gone") : absl::OkStatus(), {});
    }
  }

  Wire& wire_;
  Mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Wire::Sent> queue_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

TEST(ClientCore, EightThreadsGetOneAnswerForEachCall) {
  ClientOptions options;
  options.max_in_flight = 6;  // fewer than threads: some overflow
  options.backstop_tokens = 0xFFFFFFFF;
  FakeClient fake(options, std::make_unique<PatientWait>());
  std::atomic<uint64_t> answers{0};
  {
    const Answerer answerer(fake.wire);
    std::vector<std::thread> threads;
    threads.reserve(8);
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < 2000; ++i) {
          if ((i + t) % 2 == 0) {
            if (fake.core->ShouldAllow(AnaSearches()).allowed) ++answers;
          } else {
            fake.core->ShouldAllowAsync(AnaSearches(), [&](const Decision& d) {
              answers += d.allowed;
            });
          }
          fake.clock->Advance(kMs);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  const ClientStats stats = fake.core->stats();
  EXPECT_EQ(answers, 16'000);
  EXPECT_EQ(stats.service + stats.backstop, 16'000);
  EXPECT_EQ(stats.in_flight, 0);
}

// Lets every call time out while another thread answers it at that moment.
class ImpatientWait final : public CallWait {
 public:
  void Wait(std::condition_variable_any& changed, Mutex& mutex,
            absl::FunctionRef<bool()> done, int64_t /*deadline_ns*/)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) override {
    if (!done()) changed.wait_for(mutex, std::chrono::microseconds(1));
  }
};

TEST(ClientCore, AnswersAndTimeoutsMayMeetAtTheSameMoment) {
  ClientOptions options;
  options.backstop_tokens = 0xFFFFFFFF;
  FakeClient fake(options, std::make_unique<ImpatientWait>());
  {
    const Answerer answerer(fake.wire);
    std::vector<std::thread> threads;
    threads.reserve(4);
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 2000; ++i) {
          EXPECT_TRUE(fake.core->ShouldAllow(AnaSearches()).allowed);
          fake.clock->Advance(50 * kMs);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  const ClientStats stats = fake.core->stats();
  EXPECT_EQ(stats.service + stats.backstop, 8000);
  EXPECT_EQ(stats.in_flight, 0);
}

}  // namespace
}  // namespace tollgate::client
