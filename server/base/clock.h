#ifndef TOLLGATE_SERVER_BASE_CLOCK_H_
#define TOLLGATE_SERVER_BASE_CLOCK_H_

#include <atomic>
#include <cstdint>

namespace tollgate {

// Says what time it is, in nanoseconds since the Unix epoch. The core takes
// time as an argument; only the limiter and the adapters hold a Clock.
// Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;

  // Nanoseconds since 1970-01-01 UTC, between 0 and 2^62. (SteadyClock alone
  // counts from another start.)
  [[nodiscard]] virtual int64_t NowNs() const = 0;
};

// Steady time added to the wall time at construction: it never goes back, and
// windows align to UTC as the wall clock stood when the process started.
// Thread-safe.
class SystemClock final : public Clock {
 public:
  SystemClock();
  [[nodiscard]] int64_t NowNs() const override;

 private:
  const int64_t offset_ns_;  // wall minus steady, read once
};

// The machine's steady clock as it is, from an arbitrary start. For durations,
// and for deadlines that gRPC states on the same clock. Thread-safe.
class SteadyClock final : public Clock {
 public:
  [[nodiscard]] int64_t NowNs() const override;
};

// Stands still until told otherwise. For tests and simulations. Thread-safe.
class FakeClock final : public Clock {
 public:
  explicit FakeClock(int64_t now_ns) : now_ns_(now_ns) {}
  [[nodiscard]] int64_t NowNs() const override {
    return now_ns_.load(std::memory_order_acquire);
  }
  // Moves time by `delta_ns`, which may be negative.
  void Advance(int64_t delta_ns) {
    now_ns_.fetch_add(delta_ns, std::memory_order_acq_rel);
  }
  void Set(int64_t now_ns) { now_ns_.store(now_ns, std::memory_order_release); }

 private:
  std::atomic<int64_t> now_ns_;  // read and moved by any thread
};

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_BASE_CLOCK_H_
