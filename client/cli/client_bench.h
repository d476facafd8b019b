#ifndef TOLLGATE_CLIENT_CLI_CLIENT_BENCH_H_
#define TOLLGATE_CLIENT_CLI_CLIENT_BENCH_H_

#include <ostream>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/cli/bench.h"
#include "server/base/clock.h"

namespace tollgate::cli {

// RunBench for mode "client".
int RunClientBench(const BenchOptions& options, const Clock& clock,
                   std::ostream& out, std::ostream& err);

// The duration of a load, 1 ms to 24 h. INVALID_ARGUMENT names --duration.
absl::StatusOr<absl::Duration> ParseLoadTime(const std::string& text);

}  // namespace tollgate::cli

#endif  // TOLLGATE_CLIENT_CLI_CLIENT_BENCH_H_
