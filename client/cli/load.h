#ifndef TOLLGATE_CLIENT_CLI_LOAD_H_
#define TOLLGATE_CLIENT_CLI_LOAD_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/cli/latency_histogram.h"
#include "client/request.h"
#include "server/base/clock.h"

namespace tollgate::cli {

struct LoadOptions {
  std::string server;  // HOST:PORT
  std::string domain;
  // In each value, "{key}" is replaced by a random one of 0 to keys - 1.
  client::Descriptor descriptor;
  uint64_t keys = 1000;      // 1 or more
  uint32_t connections = 1;  // 1 or more, none shared
  uint32_t in_flight = 32;   // calls out on each connection, 1 or more
  uint32_t batch_size = 0;   // requests in a call; 0: one, by ShouldAllow
  absl::Duration duration = absl::Seconds(10);
  absl::Duration timeout = absl::Seconds(1);  // of each call
};

struct LoadResult {
  absl::Duration elapsed;  // until the last answer
  uint64_t calls = 0;      // answered or failed
  uint64_t decisions = 0;  // answers: allowed, or not
  uint64_t allowed = 0;
  uint64_t unmatched = 0;    // allowed because no rule applied
  uint64_t errors = 0;       // calls that failed and answers that are errors
  std::string first_error;   // one of them
  LatencyHistogram latency;  // of the calls that were answered

  // All but `elapsed`.
  void Add(const LoadResult& other);

  [[nodiscard]] double decisions_per_second() const {
    return static_cast<double>(decisions) / absl::ToDoubleSeconds(elapsed);
  }
};

// Asks the service for as many decisions as it gives: each connection has
// in_flight calls out, and sends the next as soon as one is answered. Blocks
// for the duration. Calls `progress` about once a second, from another thread,
// with the decisions so far. The error of the first call to the service if
// that gets no answer.
absl::StatusOr<LoadResult> RunLoad(
    const LoadOptions& options, const Clock& clock,
    const std::function<void(uint64_t decisions)>& progress);

}  // namespace tollgate::cli

#endif  // TOLLGATE_CLIENT_CLI_LOAD_H_
