#include "client/cli/bench.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cli/cli.h"
#include "client/cli/client_bench.h"
#include "client/cli/entries.h"
#include "client/cli/json.h"
#include "client/cli/load.h"
#include "client/cli/server_cpu.h"

namespace tollgate::cli {
namespace {

absl::StatusOr<LoadOptions> ToLoadOptions(const BenchOptions& options) {
  LoadOptions load;
  absl::StatusOr<client::Descriptor> descriptor =
      ParseDescriptor(options.descriptor);
  if (!descriptor.ok()) return descriptor.status();
  const absl::StatusOr<absl::Duration> duration =
      ParseLoadTime(options.duration);
  if (!duration.ok()) return duration.status();
  load.server = options.server;
  load.domain = options.domain;
  load.descriptor = *std::move(descriptor);
  load.keys = options.keys;
  load.connections = options.connections;
  load.in_flight = options.in_flight;
  load.batch_size = options.mode == "batch" ? options.batch_size : 0;
  load.duration = *duration;
  return load;
}

// Empty if nobody said where to read it.
absl::StatusOr<std::optional<absl::Duration>> ReadCpu(
    const BenchOptions& options) {
  if (options.metrics.empty() && options.server_pid == 0) return std::nullopt;
  const bool by_pid = options.server_pid != 0;
  absl::StatusOr<absl::Duration> cpu =
      by_pid ? ReadCpuOfProcess(options.server_pid)
             : ReadCpuFromMetrics(options.metrics);
  if (cpu.ok()) return *cpu;
  return absl::Status(cpu.status().code(),
                      absl::StrCat(by_pid ? "--server-pid: " : "--metrics: ",
                                   cpu.status().message()));
}

struct Report {
  LoadResult load;
  // The server's, for each decision.
  std::optional<double> cpu_us;
};

absl::StatusOr<Report> Measure(const BenchOptions& options, const Clock& clock,
                               std::ostream& err) {
  const absl::StatusOr<LoadOptions> load = ToLoadOptions(options);
  if (!load.ok()) return load.status();
  const auto before = ReadCpu(options);
  if (!before.ok()) return before.status();
  uint64_t seconds = 0;
  uint64_t last = 0;
  absl::StatusOr<LoadResult> result =
      RunLoad(*load, clock, [&](uint64_t decisions) {
        err << absl::StrFormat("%4ds %10d decisions/s\n", ++seconds,
                               decisions - last)
            << std::flush;
        last = decisions;
      });
  if (!result.ok()) {
    return absl::Status(result.status().code(),
                        absl::StrCat("no answer from ", options.server, ": ",
                                     result.status().ToString()));
  }
  const auto after = ReadCpu(options);
  if (!after.ok()) return after.status();
  Report report{*std::move(result), std::nullopt};
  if (after->has_value() && report.load.decisions > 0) {
    report.cpu_us = absl::ToDoubleMicroseconds(**after - **before) /
                    static_cast<double>(report.load.decisions);
  }
  return report;
}

double Us(int64_t nanoseconds) {
  return static_cast<double>(nanoseconds) / 1000;
}

std::string ToText(const BenchOptions& options, const Report& report) {
  const LoadResult& load = report.load;
  std::string text = absl::StrFormat(
      "mode            %s, %d connections x %d in flight, %d keys\n"
      "decisions/s     %.0f (%d in %.2f s, %d allowed)\n"
      "calls           %d, latency p50 %.0f us, p99 %.0f us, p999 %.0f us, "
      "max %.0f us\n"
      "errors          %d\n",
      options.mode == "batch" ? absl::StrCat("batch of ", options.batch_size)
                              : options.mode,
      options.connections, options.in_flight, options.keys,
      load.decisions_per_second(), load.decisions,
      absl::ToDoubleSeconds(load.elapsed), load.allowed, load.calls,
      Us(load.latency.Quantile(500)), Us(load.latency.Quantile(990)),
      Us(load.latency.Quantile(999)), Us(load.latency.max()), load.errors);
  if (!load.first_error.empty()) {
    absl::StrAppend(&text, "                such as ", load.first_error, "\n");
  }
  if (load.unmatched > 0) {
    absl::StrAppend(&text, "note            no rule applied to ",
                    load.unmatched, " of the decisions (domain \"",
                    options.domain, "\", \"", options.descriptor,
                    "\"): say others with --domain and --descriptor\n");
  }
  absl::StrAppend(&text, "server CPU      ",
                  report.cpu_us.has_value()
                      ? absl::StrFormat("%.2f us per decision", *report.cpu_us)
                      : "unknown (say where with --metrics or --server-pid)",
                  "\n");
  return text;
}

std::string ToJson(const BenchOptions& options, const Report& report) {
  const LoadResult& load = report.load;
  const bool batch = options.mode == "batch";
  return absl::StrFormat(
      R"({"mode":%s,"connections":%d,"in_flight":%d,"batch_size":%d,)"
      R"("keys":%d,"seconds":%.3f,"calls":%d,"decisions":%d,)"
      R"("decisions_per_second":%.1f,"allowed":%d,"unmatched":%d,)"
      R"("errors":%d,)"
      R"("first_error":%s,"latency_us":{"p50":%.1f,"p99":%.1f,"p999":%.1f,)"
      R"("max":%.1f},"server_cpu_us_per_decision":%s})",
      JsonString(options.mode), options.connections, options.in_flight,
      batch ? options.batch_size : 1, options.keys,
      absl::ToDoubleSeconds(load.elapsed), load.calls, load.decisions,
      load.decisions_per_second(), load.allowed, load.unmatched, load.errors,
      JsonString(load.first_error), Us(load.latency.Quantile(500)),
      Us(load.latency.Quantile(990)), Us(load.latency.Quantile(999)),
      Us(load.latency.max()),
      report.cpu_us.has_value() ? absl::StrFormat("%.3f", *report.cpu_us)
                                : "null");
}

}  // namespace

int RunBench(const BenchOptions& options, const Clock& clock, std::ostream& out,
             std::ostream& err) {
  if (options.mode == "client") {
    return RunClientBench(options, clock, out, err);
  }
  const absl::StatusOr<Report> report = Measure(options, clock, err);
  if (!report.ok()) {
    err << "tollgate bench: " << report.status().message() << "\n";
    return kExitError;
  }
  out << (options.json ? ToJson(options, *report) + "\n"
                       : ToText(options, *report));
  return report->load.decisions > 0 ? kExitOk : kExitError;
}

}  // namespace tollgate::cli
