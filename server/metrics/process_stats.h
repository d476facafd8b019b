#ifndef TOLLGATE_SERVER_METRICS_PROCESS_STATS_H_
#define TOLLGATE_SERVER_METRICS_PROCESS_STATS_H_

namespace tollgate {

// What the kernel says of this process. A plain value; what /proc does not
// tell is 0.
struct ProcessStats {
  double start_time_seconds = 0;  // since the Unix epoch
  double resident_memory_bytes = 0;
  double cpu_seconds = 0;  // user and system
  double open_fds = 0;
};

// Reads /proc. Thread-safe.
[[nodiscard]] ProcessStats ReadProcessStats();

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_METRICS_PROCESS_STATS_H_
