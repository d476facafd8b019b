#include "client/cli/cli.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <utility>

#include "client/cli/bench.h"
#include "client/cli/check.h"
#include "client/cli/validate.h"
#include "server/base/clock.h"

namespace tollgate::cli {
namespace {

constexpr char kServerHelp[] = "Where tollgate-server listens for gRPC";

// What the command line asked for; empty if it asked for nothing.
using Action = std::function<int(std::ostream& out, std::ostream& err)>;

void AddCheck(CLI::App& app, Action& action, CheckOptions& options) {
  CLI::App* command = app.add_subcommand(
      "check", "Ask for one decision: may this request go ahead?");
  command->add_option("KEY=VALUE", options.entries,
                      "The entries that describe the request");
  command
      ->add_option("--descriptor", options.descriptors,
                   "One more descriptor, as \"KEY=VALUE KEY=VALUE\"; may be "
                   "given again")
      ->expected(1)
      ->take_all();
  command->add_option("--domain", options.domain, "The namespace of rules")
      ->default_val("default");
  command
      ->add_option("--cost", options.cost,
                   "The tokens to take; 0 looks and takes none")
      ->default_val(1);
  command->add_option("--server", options.server, kServerHelp)
      ->default_val("127.0.0.1:8081");
  command->add_option("--timeout", options.timeout, "How long to wait")
      ->default_val("1s");
  command->add_flag("--json", options.json,
                    "Print the response as JSON, with its source");
  command->footer(
      "Exit status: 0 allowed, 1 refused or impossible, 2 no answer.\n\n"
      "Examples:\n"
      "  tollgate check --domain=shop user=ana\n"
      "  tollgate check --domain=shop --cost=0 user=ana   "
      "# look, take nothing\n"
      "  tollgate check --domain=shop user=ana \\\n"
      "      --descriptor \"ip=192.0.2.1 endpoint=/login\" --json");
  command->callback([&] {
    action = [&options](std::ostream& out, std::ostream& err) {
      return RunCheck(options, out, err);
    };
  });
}

void AddValidate(CLI::App& app, Action& action, ValidateOptions& options) {
  CLI::App* command = app.add_subcommand(
      "validate", "Read rule files and report every mistake");
  command
      ->add_option("PATH", options.paths,
                   "A rule file, or a directory of *.yaml files")
      ->required();
  command->add_flag("--json", options.json, "Print the result as JSON");
  command->footer(
      "Each path is read on its own, as tollgate-server --rules=PATH would.\n"
      "Exit status: 0 all valid, 1 a mistake was found, 2 no such file.\n\n"
      "Examples:\n"
      "  tollgate validate rules.yaml\n"
      "  tollgate validate /etc/tollgate/rules --json");
  command->callback([&] {
    action = [&options](std::ostream& out, std::ostream& err) {
      return RunValidate(options, out, err);
    };
  });
}

void AddBenchCpu(CLI::App& command, BenchOptions& options) {
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

void AddBench(CLI::App& app, Action& action, BenchOptions& options) {
  CLI::App* command = app.add_subcommand(
      "bench", "Load the service and report decisions per second and latency");
  command->add_option("--mode", options.mode, "One decision in a call, or many")
      ->check(CLI::IsMember({"unary", "batch"}))
      ->default_val("unary");
  command->add_option("--server", options.server, kServerHelp)
      ->default_val("127.0.0.1:8081");
  command->add_option("--domain", options.domain, "The namespace of rules")
      ->default_val("default");
  command
      ->add_option("--descriptor", options.descriptor,
                   "The entries of each request; {key} becomes a number")
      ->default_val("user={key}");
  command->add_option("--keys", options.keys, "Different values of {key}")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 31))
      ->default_val(1000);
  command->add_option("--connections", options.connections, "Connections")
      ->check(CLI::Range(1, 1000))
      ->default_val(2);
  command
      ->add_option("--in-flight", options.in_flight,
                   "Calls out at a time on each connection")
      ->check(CLI::Range(1, 10000))
      ->default_val(32);
  command
      ->add_option("--batch-size", options.batch_size,
                   "Requests in a call of --mode=batch")
      ->check(CLI::Range(1, 1000))
      ->default_val(100);
  command->add_option("--duration", options.duration, "How long")
      ->default_val("10s");
  AddBenchCpu(*command, options);
  command->add_flag("--json", options.json, "Print the result as JSON");
  command->footer(
      "Every connection sends its next call as soon as one is answered.\n"
      "Exit status: 0 done, 2 no decision was given.\n\n"
      "Examples:\n"
      "  tollgate bench --domain=shop --duration=5s\n"
      "  tollgate bench --domain=shop --mode=batch --batch-size=100 "
      "--keys=1000000\n"
      "  tollgate bench --domain=shop --metrics=127.0.0.1:8080");
  command->callback([&] {
    action = [&options](std::ostream& out, std::ostream& err) {
      const SystemClock clock;
      return RunBench(options, clock, out, err);
    };
  });
}

void AddVersion(CLI::App& app, Action& action) {
  app.add_subcommand("version", "Print the version")->callback([&] {
    action = [](std::ostream& out, std::ostream& /*err*/) {
      out << "tollgate " << TOLLGATE_VERSION << "\n";
      return kExitOk;
    };
  });
}

}  // namespace

int RunCli(const std::vector<std::string>& args, std::ostream& out,
           std::ostream& err) {
  CLI::App app("Asks the Tollgate rate limiter, and looks after its rules.",
               "tollgate");
  app.require_subcommand(0, 1);  // so that an unknown one is named
  app.footer(
      "Each command explains itself: tollgate check --help\n\n"
      "Examples:\n"
      "  tollgate check --domain=shop user=ana\n"
      "  tollgate validate rules.yaml\n"
      "  tollgate bench --domain=shop --duration=5s");
  Action action;
  CheckOptions check;
  ValidateOptions validate;
  BenchOptions bench;
  AddCheck(app, action, check);
  AddValidate(app, action, validate);
  AddBench(app, action, bench);
  AddVersion(app, action);
  // CLI11 reports by exceptions; they go no further than this.
  try {
    std::vector<std::string> reversed(args.rbegin(), args.rend());
    app.parse(std::move(reversed));
  } catch (const CLI::ParseError& error) {
    return app.exit(error, out, err) == 0 ? kExitOk : kExitError;
  }
  if (!action) {
    err << "want a command: see tollgate --help\n";
    return kExitError;
  }
  return action(out, err);
}

}  // namespace tollgate::cli
