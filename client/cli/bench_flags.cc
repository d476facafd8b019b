#include "client/cli/bench_flags.h"

#include <cstdint>

namespace tollgate::cli {
namespace {

// What is asked.
void AddQuestions(CLI::App& command, BenchOptions& options) {
  command.add_option("--domain", options.domain, "The namespace of rules")
      ->default_val("default");
  command
      .add_option("--descriptor", options.descriptor,
                  "The entries of each request; {key} becomes a number")
      ->default_val("user={key}");
  command.add_option("--keys", options.keys, "Different values of {key}")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 31))
      ->default_val(1000);
}

// How much of it at a time.
void AddLoad(CLI::App& command, BenchOptions& options) {
  command
      .add_option("--mode", options.mode,
                  "One decision in a call, many, or what the client library "
                  "makes of it")
      ->check(CLI::IsMember({"unary", "batch", "client"}))
      ->default_val("unary");
  command.add_option("--connections", options.connections, "Connections")
      ->check(CLI::Range(1, 1000))
      ->default_val(2);
  command
      .add_option("--in-flight", options.in_flight,
                  "Calls out at a time on each connection")
      ->check(CLI::Range(1, 10000))
      ->default_val(32);
  command
      .add_option("--batch-size", options.batch_size,
                  "Requests in a call of --mode=batch, at most in one of "
                  "--mode=client")
      ->check(CLI::Range(1, 1000))
      ->default_val(100);
  command
      .add_option("--callers", options.callers,
                  "With --mode=client: threads that ask and wait; 0 is one "
                  "that is called back, with --in-flight calls out")
      ->check(CLI::Range(0, 1000))
      ->default_val(0);
  command.add_option("--duration", options.duration, "How long")
      ->default_val("10s");
}

// What is measured beside the answers.
void AddServerCpu(CLI::App& command, BenchOptions& options) {
  CLI::Option* metrics = command.add_option(
      "--metrics", options.metrics,
      "The server's HTTP address, to read its CPU time from /metrics");
  command
      .add_option("--server-pid", options.server_pid,
                  "The server's process, if it is on this machine, to read "
                  "its CPU time")
      ->check(CLI::PositiveNumber)
      ->excludes(metrics);
}

}  // namespace

void AddBenchFlags(CLI::App& command, BenchOptions& options) {
  AddQuestions(command, options);
  AddLoad(command, options);
  AddServerCpu(command, options);
  command.add_flag("--json", options.json, "Print the result as JSON");
  command.footer(
      "Every connection sends its next call as soon as one is answered.\n"
      "--mode=client uses the client library over its one connection, in\n"
      "turn with each call on its own (plain) and with calls that are\n"
      "pending together (coalesced), and prints the ratio of the two.\n"
      "Exit status: 0 done, 2 no decision was given.\n\n"
      "Examples:\n"
      "  tollgate bench --domain=shop --duration=5s\n"
      "  tollgate bench --domain=shop --mode=batch --batch-size=100 "
      "--keys=1000000\n"
      "  tollgate bench --domain=shop --mode=client --callers=64\n"
      "  tollgate bench --domain=shop --metrics=127.0.0.1:8080");
}

}  // namespace tollgate::cli
