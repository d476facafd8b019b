#include "server/rpc/admission.h"

#include <algorithm>

#include "absl/status/status.h"

namespace tollgate {
namespace {

// A thread that loses its core between the two reads makes the difference too
// large, never too small.
int64_t Ahead(const Clock& clock, const Clock& of) {
  int64_t ahead_ns = std::numeric_limits<int64_t>::max();
  for (int i = 0; i < 8; ++i) {
    const int64_t of_ns = of.NowNs();
    ahead_ns = std::min(ahead_ns, clock.NowNs() - of_ns);
  }
  return ahead_ns;
}

}  // namespace

Admission::Admission(int64_t max_in_flight, const Clock& limiter_clock,
                     const Clock& steady_clock, RpcObserver& observer)
    : max_in_flight_(max_in_flight),
      steady_clock_(steady_clock),
      limiter_ahead_ns_(Ahead(limiter_clock, steady_clock)),
      observer_(observer) {}

int64_t Admission::Arrive() {
  in_flight_.fetch_add(1, std::memory_order_relaxed);
  observer_.OnArrival();
  return steady_clock_.NowNs();
}

void Admission::Leave(int64_t arrived_steady_ns) {
  observer_.OnFinish(steady_clock_.NowNs() - arrived_steady_ns);
  in_flight_.fetch_sub(1, std::memory_order_relaxed);
}

absl::StatusOr<int64_t> Admission::Admit(int64_t arrived_steady_ns,
                                         int64_t deadline_steady_ns,
                                         Queue queue) {
  if (deadline_steady_ns < arrived_steady_ns) {
    observer_.OnExpired();
    return absl::DeadlineExceededError(
        "the deadline had passed before the request was decided");
  }
  if (in_flight_.load(std::memory_order_relaxed) > max_in_flight_) {
    was_full_.store(true, std::memory_order_relaxed);
    observer_.OnOverload();
    return absl::UnavailableError("overloaded: too many calls in flight");
  }
  if (queue == Queue::kTooLong) {
    observer_.OnLongQueue();
    return absl::UnavailableError("overloaded: calls wait too long");
  }
  // A deadline too far to be carried over is none.
  int64_t deadline_ns = kNoDeadline;
  if (deadline_steady_ns != kNoDeadline &&
      !__builtin_add_overflow(deadline_steady_ns, limiter_ahead_ns_,
                              &deadline_ns)) {
    return deadline_ns;
  }
  return kNoDeadline;
}

}  // namespace tollgate
