#ifndef TOLLGATE_CLIENT_BREAKER_H_
#define TOLLGATE_CLIENT_BREAKER_H_

#include <cstdint>

#include "client/backoff.h"

namespace tollgate::client {

struct BreakerOptions {
  // Failures in a row that open it, 1 or more.
  uint32_t failures = 3;
  // The pause before a probe, at first and at most, in nanoseconds;
  // 1 <= min_probe_ns <= max_probe_ns.
  int64_t min_probe_ns = 100'000'000;
  int64_t max_probe_ns = 500'000'000;
};

// Decides whether a call is worth sending. Closed, all are sent; after so many
// failures in a row it opens, and then none is sent but one probe at a time,
// never sooner than a pause after the failure before. Any success closes it.
// Pure: time and randomness are arguments. Thread-compatible.
class Breaker {
 public:
  enum class Permit {
    kSend,   // send the call
    kLocal,  // answer locally
    kProbe,  // answer locally, and send one probe: its result must be reported
  };

  explicit Breaker(const BreakerOptions& options)
      : options_(options),
        backoff_(options.min_probe_ns, options.max_probe_ns) {}

  // Asks for one call at `now_ns`.
  Permit Ask(int64_t now_ns);

  // A call got an answer from the service.
  void OnSuccess() { Close(); }
  // A call got none. `random` is uniform over its type; it shortens the pause.
  void OnFailure(int64_t now_ns, uint32_t random);

  // The result of the probe that Ask permitted.
  void OnProbeSuccess();
  void OnProbeFailure(int64_t now_ns, uint32_t random);

  [[nodiscard]] bool open() const { return open_; }

 private:
  void Close();
  // Schedules the next probe.
  void ScheduleProbe(int64_t now_ns, uint32_t random);

  BreakerOptions options_;
  bool open_ = false;
  uint32_t failures_ = 0;  // in a row, while closed
  // Outlives a Close(), so that there is never a second probe at a time.
  bool probe_is_out_ = false;
  Backoff backoff_;          // between probes
  int64_t probe_at_ns_ = 0;  // while open
};

}  // namespace tollgate::client

#endif  // TOLLGATE_CLIENT_BREAKER_H_
