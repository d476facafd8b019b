#ifndef TOLLGATE_TESTS_SUPPORT_LATER_STORE_H_
#define TOLLGATE_TESTS_SUPPORT_LATER_STORE_H_

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "server/base/clock.h"
#include "server/base/mutex.h"
#include "server/limiter/bucket_store.h"
#include "server/limiter/limiter.h"
#include "server/limiter/memory_store.h"

namespace tollgate {

// A store that answers later: each call waits until the test lets it go, and is
// answered then, newest first, on a thread of the store's own. Thread-safe.
class LaterStore final : public BucketStore {
 public:
  // `limiter` must outlive the store.
  explicit LaterStore(Limiter& limiter) : memory_(limiter) {
    thread_ = std::thread([this] { Run(); });
  }
  // Answers what is still waiting.
  ~LaterStore() override {
    LetGo();
    {
      MutexLock lock(mutex_);
      stopping_ = true;
      changed_.notify_all();
    }
    thread_.join();
  }

  // Answers what waits now and what comes from here on.
  void LetGo() {
    MutexLock lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  // Returns once so many calls wait; false if that takes too long.
  bool WaitFor(size_t count) {
    const SteadyClock clock;
    const int64_t until_ns = clock.NowNs() + int64_t{30'000'000'000};
    while (clock.NowNs() < until_ns) {
      {
        MutexLock lock(mutex_);
        if (waiting_.size() >= count) return true;
      }
      std::this_thread::yield();
    }
    return false;
  }

  [[nodiscard]] bool is_immediate() const override { return false; }

  void Decide(const Request& request, Decided done) override {
    Put([this, &request, done = Shared(std::move(done))] {
      memory_.Decide(request, std::move(*done));
    });
  }
  void Refund(const Request& request, int64_t taken_at_ns,
              absl::Span<const Fingerprint> overflow, Decided done) override {
    Put([this, &request, taken_at_ns,
         overflow = std::vector<Fingerprint>(overflow.begin(), overflow.end()),
         done = Shared(std::move(done))] {
      memory_.Refund(request, taken_at_ns, overflow, std::move(*done));
    });
  }
  void Release(const HeldSlots& slots,
               absl::AnyInvocable<void(bool found)> done) override {
    Put([this, slots, done = Shared(std::move(done))] {
      memory_.Release(slots, std::move(*done));
    });
  }
  void Reset(const Request& request, absl::string_view rule,
             absl::AnyInvocable<void(size_t count)> done) override {
    Put([this, &request, rule = std::string(rule),
         done = Shared(std::move(done))] {
      memory_.Reset(request, rule, std::move(*done));
    });
  }

 private:
  template <typename T>
  static std::shared_ptr<T> Shared(T value) {
    return std::make_shared<T>(std::move(value));
  }

  void Put(std::function<void()> answer) {
    MutexLock lock(mutex_);
    waiting_.push_back(std::move(answer));
    changed_.notify_all();
  }

  void Run() {
    while (true) {
      std::function<void()> answer;
      {
        MutexLock lock(mutex_);
        while (!stopping_ && (!open_ || waiting_.empty())) {
          changed_.wait(mutex_);
        }
        if (waiting_.empty()) return;
        answer = std::move(waiting_.back());
        waiting_.pop_back();
      }
      answer();
    }
  }

  MemoryStore memory_;
  Mutex mutex_;
  std::condition_variable_any changed_;
  bool open_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::deque<std::function<void()>> waiting_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace tollgate

#endif  // TOLLGATE_TESTS_SUPPORT_LATER_STORE_H_
