#ifndef TOLLGATE_CLIENT_STATS_H_
#define TOLLGATE_CLIENT_STATS_H_

#include <cstdint>
#include <string>

#include "absl/time/time.h"

namespace tollgate::client {

// How the policy stands that the service pushes: what this client enforces
// while it cannot reach the service. A plain value.
struct PolicyStats {
  std::string hash;      // of the rules; empty before the service said any
  uint32_t clients = 0;  // that share each limit; 0 before the first
  // Since the service last said something, which it does every 10 s.
  absl::Duration age = absl::InfiniteDuration();
  bool connected = false;  // the stream is open
  uint64_t updates = 0;    // messages that were complete
  uint64_t losses = 0;     // streams that ended or could not be opened
  uint64_t errors = 0;     // messages that made no sense: what was before stays
};

// What a client has done since it was made, for metrics. Each count is exact;
// together they are not one instant's. A plain value.
struct ClientStats {
  // Decisions, by who made them.
  uint64_t service = 0;
  uint64_t refusal_cache = 0;
  uint64_t backstop = 0;
  uint64_t outage_policy = 0;
  // Those of them that were not allowed.
  uint64_t service_refused = 0;
  uint64_t backstop_refused = 0;
  uint64_t outage_policy_refused = 0;
  // Calls that failed: no answer in time, no connection, another error of the
  // service or of what stands before it.
  uint64_t timeouts = 0;
  uint64_t unavailable = 0;
  uint64_t other_errors = 0;
  // Requests that were wrong in themselves.
  uint64_t bad_requests = 0;
  // Calls that were not sent because max_in_flight were out.
  uint64_t overflows = 0;
  // Releases and refunds that were sent, and those that were not or that got
  // no answer.
  uint64_t gives_back = 0;
  uint64_t give_back_failures = 0;
  // Probes sent, and whether the breaker is open now.
  uint64_t probes = 0;
  bool breaker_open = false;
  // Calls that are out now.
  uint32_t in_flight = 0;
  PolicyStats policy;
};

}  // namespace tollgate::client

#endif  // TOLLGATE_CLIENT_STATS_H_
