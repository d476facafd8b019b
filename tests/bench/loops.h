#ifndef TOLLGATE_TESTS_BENCH_LOOPS_H_
#define TOLLGATE_TESTS_BENCH_LOOPS_H_

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "server/base/clock.h"

// Two ways to load what answers later: as much as it takes, or at a rate.
namespace tollgate {

// Starts the work of that number; `done` hears whether it went well.
using StartFn =
    std::function<void(int64_t number, std::function<void(bool)> done)>;

// Keeps `window` of them under way until `count` are done.
class ClosedLoop {
 public:
  ClosedLoop(const StartFn& start, int window, int64_t count)
      : start_(start), left_(count), open_(window) {}

  // How many a second.
  double Measure(const Clock& clock) {
    const int64_t count = left_;
    const int64_t start_ns = clock.NowNs();
    for (int i = open_; i > 0; --i) Start();
    std::unique_lock<std::mutex> lock(mutex_);
    done_.wait(lock, [this] { return open_ == 0; });
    return static_cast<double>(count) * 1e9 /
           static_cast<double>(clock.NowNs() - start_ns);
  }
  [[nodiscard]] int64_t failures() const { return failures_; }

 private:
  void Start() {
    const int64_t number = --left_;
    if (number < 0) {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (--open_ == 0) done_.notify_all();
      return;
    }
    start_(number, [this](bool ok) {
      if (!ok) ++failures_;
      Start();
    });
  }

  const StartFn& start_;
  std::atomic<int64_t> left_;
  std::atomic<int64_t> failures_{0};
  std::mutex mutex_;
  std::condition_variable done_;
  int open_;  // of the window; under mutex_ once it runs
};

struct Latency {
  double p50_us;
  double p99_us;
  int64_t failures;
};

// Of those that start at a rate, from when they were due; one that fails takes
// as long as can be.
inline Latency OpenLoop(const StartFn& start, const Clock& clock,
                        double per_second, int64_t count) {
  constexpr int64_t kNever = 3'600'000'000'000;
  std::vector<int64_t> took_ns(static_cast<size_t>(count), kNever);
  std::atomic<int64_t> open{count};
  std::atomic<int64_t> failures{0};
  const int64_t start_ns = clock.NowNs();
  for (int64_t i = 0; i < count; ++i) {
    const int64_t due_ns =
        start_ns +
        static_cast<int64_t>(static_cast<double>(i) * 1e9 / per_second);
    if (due_ns > clock.NowNs()) {
      std::this_thread::sleep_for(
          std::chrono::nanoseconds(due_ns - clock.NowNs()));
    }
    start(i, [&, i, due_ns](bool ok) {
      if (ok) took_ns[static_cast<size_t>(i)] = clock.NowNs() - due_ns;
      if (!ok) ++failures;
      --open;
    });
  }
  while (open > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::sort(took_ns.begin(), took_ns.end());
  const auto at = [&](double part) {
    return static_cast<double>(took_ns[static_cast<size_t>(
               static_cast<double>(count - 1) * part)]) /
           1000;
  };
  return {at(0.5), at(0.99), failures};
}

}  // namespace tollgate

#endif  // TOLLGATE_TESTS_BENCH_LOOPS_H_
