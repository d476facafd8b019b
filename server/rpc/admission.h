#ifndef TOLLGATE_SERVER_RPC_ADMISSION_H_
#define TOLLGATE_SERVER_RPC_ADMISSION_H_

#include <atomic>
#include <cstdint>
#include <limits>

#include "absl/status/statusor.h"
#include "server/base/clock.h"
#include "server/rpc/rpc_observer.h"

namespace tollgate {

inline constexpr int64_t kNoDeadline = std::numeric_limits<int64_t>::max();

// Whether a call came to a queue in which calls wait too long.
enum class Queue { kShort, kTooLong };

// Counts the calls in flight and turns away those that nobody waits for, that
// are too many, or that come to a queue in which calls wait too long: at once,
// so that no decision ever queues. Thread-safe.
class Admission {
 public:
  // `max_in_flight`: 1 or more. `limiter_clock` must go as fast as
  // `steady_clock`, which must outlive it, and so must `observer`.
  Admission(int64_t max_in_flight, const Clock& limiter_clock,
            const Clock& steady_clock, RpcObserver& observer);

  // Counts a call in. The steady instant of its arrival.
  int64_t Arrive();
  // Counts it out.
  void Leave(int64_t arrived_steady_ns);

  // The deadline on the limiter's clock of a call that has arrived, or the
  // status to answer at once: DEADLINE_EXCEEDED if the deadline has passed,
  // UNAVAILABLE if more than `max_in_flight` calls are in flight or the queue
  // is too long.
  absl::StatusOr<int64_t> Admit(int64_t arrived_steady_ns,
                                int64_t deadline_steady_ns, Queue queue);

  // Whether too many calls were in flight since this was asked last.
  bool TakeWasFull() {
    return was_full_.exchange(false, std::memory_order_relaxed);
  }

 private:
  const int64_t max_in_flight_;
  const Clock& steady_clock_;
  // What the limiter's clock is ahead of the steady one, so that a call's
  // deadline costs no more reads of either.
  const int64_t limiter_ahead_ns_;
  RpcObserver& observer_;
  // Both are of all threads.
  alignas(64) std::atomic<int64_t> in_flight_{0};
  std::atomic<bool> was_full_{false};
};

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_RPC_ADMISSION_H_
