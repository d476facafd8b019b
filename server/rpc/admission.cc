#include "server/rpc/admission.h"

#include "absl/status/status.h"

namespace tollgate {

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
                                         int64_t deadline_steady_ns) {
  if (deadline_steady_ns < arrived_steady_ns) {
    observer_.OnExpired();
    return absl::DeadlineExceededError(
        "the deadline had passed before the request was decided");
  }
  if (in_flight_.load(std::memory_order_relaxed) > max_in_flight_) {
    observer_.OnOverload();
    return absl::UnavailableError("overloaded: too many calls in flight");
  }
  if (deadline_steady_ns == kNoDeadline) return kNoDeadline;
  const int64_t now_ns = limiter_clock_.NowNs();
  const int64_t left_ns = deadline_steady_ns - arrived_steady_ns;
  return left_ns < kNoDeadline - now_ns ? now_ns + left_ns : kNoDeadline;
}

}  // namespace tollgate
