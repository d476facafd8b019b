#ifndef TOLLGATE_CLIENT_CLI_BENCH_H_
#define TOLLGATE_CLIENT_CLI_BENCH_H_

#include <cstdint>
#include <ostream>
#include <string>

#include "server/base/clock.h"

namespace tollgate::cli {

struct BenchOptions {
  std::string mode;  // "unary", "batch" or "client"
  std::string server;
  std::string domain;
  std::string descriptor;  // "KEY=VALUE ...", with {key} in a value
  uint64_t keys = 1000;
  uint32_t connections = 1;
  uint32_t in_flight = 32;
  uint32_t batch_size = 100;
  uint32_t callers = 0;  // of mode "client": that wait, or 0: called back
  std::string duration;
  std::string metrics;  // HOST:PORT of the server's HTTP, or empty
  int server_pid = 0;   // of a server on this machine, or 0
  bool json = false;
};

// Loads the service, shows progress on `err` each second, and prints what it
// took to `out`. Mode "client" loads it through the client library, in turn
// with calls of their own and with calls that go together, and compares. Exit
// status 0, or 2 if there was no decision.
int RunBench(const BenchOptions& options, const Clock& clock, std::ostream& out,
             std::ostream& err);

}  // namespace tollgate::cli

#endif  // TOLLGATE_CLIENT_CLI_BENCH_H_
