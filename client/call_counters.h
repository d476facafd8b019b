#ifndef TOLLGATE_CLIENT_CALL_COUNTERS_H_
#define TOLLGATE_CLIENT_CALL_COUNTERS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "client/decision.h"
#include "client/stats.h"

namespace tollgate::client {

// Counts how calls end, and decisions by their source and whether they allow.
// Each count is exact; they are relaxed, and order nothing. Thread-safe.
class CallCounters {
 public:
  enum Counter {
    kTimeouts,
    kUnavailable,
    kOtherErrors,
    kBadRequests,
    kOverflows,
    kProbes,
    kGivesBack,
    kGiveBackFailures,
    kCounters
  };

  void Count(Counter counter) {
    counters_.at(counter).fetch_add(1, std::memory_order_relaxed);
  }
  // A call that ended with `status`; nothing if it is OK.
  void CountError(const absl::Status& status);
  void CountDecision(const Decision& decision);

  // Fills in what is counted here, and leaves the rest of `stats`.
  void Tell(ClientStats& stats) const;

 private:
  using BySource = std::array<std::atomic<uint64_t>, 4>;

  std::array<std::atomic<uint64_t>, kCounters> counters_{};
  BySource allowed_{};
  BySource refused_{};
};

}  // namespace tollgate::client

#endif  // TOLLGATE_CLIENT_CALL_COUNTERS_H_
