#ifndef TOLLGATE_SERVER_METRICS_COUNTS_H_
#define TOLLGATE_SERVER_METRICS_COUNTS_H_

#include <cstdint>

namespace tollgate {

// What a rule has said since the start, as tollgate_decisions_total and
// tollgate_overflow_total have it.
struct RuleCounts {
  uint64_t allowed = 0;
  uint64_t refused = 0;
  uint64_t shadow_refused = 0;
  uint64_t impossible = 0;
  uint64_t overflow = 0;
};

// What became of calls since the start, and of those of the moment.
struct ServiceCounts {
  uint64_t in_flight = 0;  // now
  uint64_t expired = 0;
  uint64_t overload = 0;  // also calls that came to a queue that was too long
  uint64_t invalid = 0;
  int64_t watchers = 0;  // now
};

// Connections to the gRPC port: those of the moment, and what became of others
// since the start, for whatever reason.
struct ConnectionCounts {
  int64_t open = 0;  // now
  uint64_t refused = 0;
  uint64_t killed = 0;
};

// What became of the state file since the start.
struct StateCounts {
  uint64_t restored = 0;  // buckets
  uint64_t saves = 0;
  uint64_t failures = 0;
  int64_t saved_at_ns = 0;  // 0: never
};

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_METRICS_COUNTS_H_
