#ifndef TOLLGATE_CLIENT_CLI_BENCH_FLAGS_H_
#define TOLLGATE_CLIENT_CLI_BENCH_FLAGS_H_

#include <CLI/CLI.hpp>

#include "client/cli/bench.h"

namespace tollgate::cli {

// Gives `command` the flags of `tollgate bench`, but for --server, and what its
// help ends with. `options`, which they fill in, must outlive it.
void AddBenchFlags(CLI::App& command, BenchOptions& options);

}  // namespace tollgate::cli

#endif  // TOLLGATE_CLIENT_CLI_BENCH_FLAGS_H_
