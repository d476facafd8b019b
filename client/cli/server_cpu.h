#ifndef TOLLGATE_CLIENT_CLI_SERVER_CPU_H_
#define TOLLGATE_CLIENT_CLI_SERVER_CPU_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace tollgate::cli {

// The processor time that a server has used so far. Each is accurate to some
// 10 ms, the kernel's tick.

// Of a process on this machine. NOT_FOUND if there is none.
absl::StatusOr<absl::Duration> ReadCpuOfProcess(int pid);

// From process_cpu_seconds_total in http://HOST:PORT/metrics. Gives up after
// two seconds of silence.
absl::StatusOr<absl::Duration> ReadCpuFromMetrics(const std::string& host_port);

// The parts that read no file and no socket.
absl::StatusOr<absl::Duration> ParseProcStat(absl::string_view stat,
                                             int64_t ticks_per_second);
absl::StatusOr<absl::Duration> ParseCpuMetric(absl::string_view metrics);

}  // namespace tollgate::cli

#endif  // TOLLGATE_CLIENT_CLI_SERVER_CPU_H_
