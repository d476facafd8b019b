#include "client/cli/client_bench.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cli/cli.h"
#include "client/cli/client_load.h"
#include "client/cli/entries.h"
#include "client/cli/json.h"

namespace tollgate::cli {
namespace {

// Each loads the service in both ways, so that what else the machine does slows
// both alike.
constexpr int kRounds = 5;

struct Compared {
  LoadResult plain;
  LoadResult coalesced;
  // Of the decisions per second, coalesced to plain: the rounds' median.
  double ratio = 0;
};

absl::StatusOr<ClientLoadOptions> ToLoadOptions(const BenchOptions& options) {
  absl::StatusOr<client::Descriptor> descriptor =
      ParseDescriptor(options.descriptor);
  if (!descriptor.ok()) return descriptor.status();
  const absl::StatusOr<absl::Duration> duration =
      ParseLoadTime(options.duration);
  if (!duration.ok()) return duration.status();
  ClientLoadOptions load;
  load.server = options.server;
  load.domain = options.domain;
  load.descriptor = *std::move(descriptor);
  load.keys = options.keys;
  load.callers = options.callers;
  load.in_flight = options.in_flight;
  load.duration = *duration / (2 * kRounds);
  return load;
}

// Adds one load's result to `sum`; its decisions per second.
absl::StatusOr<double> RunOne(const ClientLoadOptions& options,
                              const Clock& clock, LoadResult& sum) {
  const absl::StatusOr<LoadResult> result = RunClientLoad(options, clock);
  if (!result.ok()) {
    return absl::Status(result.status().code(),
                        absl::StrCat("no answer from ", options.server, ": ",
                                     result.status().ToString()));
  }
  sum.Add(*result);
  sum.elapsed += result->elapsed;
  return result->decisions_per_second();
}

absl::StatusOr<Compared> Compare(const BenchOptions& options,
                                 const Clock& clock, std::ostream& err) {
  absl::StatusOr<ClientLoadOptions> load = ToLoadOptions(options);
  if (!load.ok()) return load.status();
  Compared compared;
  std::vector<double> ratios;
  for (int round = 1; round <= kRounds; ++round) {
    load->max_batch = 1;
    const auto plain = RunOne(*load, clock, compared.plain);
    if (!plain.ok()) return plain.status();
    load->max_batch = options.batch_size;
    const auto coalesced = RunOne(*load, clock, compared.coalesced);
    if (!coalesced.ok()) return coalesced.status();
    err << absl::StrFormat("round %d of %d: %.0f and %.0f decisions/s\n", round,
                           kRounds, *plain, *coalesced)
        << std::flush;
    ratios.push_back(*coalesced / std::max(1.0, *plain));
  }
  std::sort(ratios.begin(), ratios.end());
  compared.ratio = ratios[kRounds / 2];
  return compared;
}

double Us(int64_t nanoseconds) {
  return static_cast<double>(nanoseconds) / 1000;
}

std::string ToText(absl::string_view name, const LoadResult& load) {
  std::string text = absl::StrFormat(
      "%-15s %.0f decisions/s, latency p50 %.0f us, p99 %.0f us, p999 %.0f us, "
      "%d errors\n",
      name, load.decisions_per_second(), Us(load.latency.Quantile(500)),
      Us(load.latency.Quantile(990)), Us(load.latency.Quantile(999)),
      load.errors);
  if (!load.first_error.empty()) {
    absl::StrAppend(&text, "                such as ", load.first_error, "\n");
  }
  return text;
}

std::string ToText(const BenchOptions& options, const Compared& compared) {
  const bool waits = options.callers > 0;
  return absl::StrCat(
      absl::StrFormat("mode            client, %d %s, %d keys\n",
                      waits ? options.callers : options.in_flight,
                      waits ? "callers that wait" : "calls in flight",
                      options.keys),
      ToText("plain", compared.plain), ToText("coalesced", compared.coalesced),
      absl::StrFormat("ratio           %.2f\n", compared.ratio));
}

std::string ToJson(const LoadResult& load) {
  return absl::StrFormat(
      R"({"seconds":%.3f,"decisions":%d,"decisions_per_second":%.1f,)"
      R"("allowed":%d,"unmatched":%d,"errors":%d,"first_error":%s,)"
      R"("latency_us":{"p50":%.1f,"p99":%.1f,"p999":%.1f,"max":%.1f}})",
      absl::ToDoubleSeconds(load.elapsed), load.decisions,
      load.decisions_per_second(), load.allowed, load.unmatched, load.errors,
      JsonString(load.first_error), Us(load.latency.Quantile(500)),
      Us(load.latency.Quantile(990)), Us(load.latency.Quantile(999)),
      Us(load.latency.max()));
}

std::string ToJson(const BenchOptions& options, const Compared& compared) {
  return absl::StrFormat(
      R"({"mode":"client","callers":%d,"in_flight":%d,"batch_size":%d,)"
      R"("keys":%d,"plain":%s,"coalesced":%s,"ratio":%.3f})",
      options.callers, options.in_flight, options.batch_size, options.keys,
      ToJson(compared.plain), ToJson(compared.coalesced), compared.ratio);
}

}  // namespace

absl::StatusOr<absl::Duration> ParseLoadTime(const std::string& text) {
  const absl::StatusOr<absl::Duration> duration = ParseTime("--duration", text);
  if (!duration.ok()) return duration.status();
  if (*duration < absl::Milliseconds(1) || *duration > absl::Hours(24)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--duration: got ", text, ", want 1ms to 24h"));
  }
  return *duration;
}

int RunClientBench(const BenchOptions& options, const Clock& clock,
                   std::ostream& out, std::ostream& err) {
  const absl::StatusOr<Compared> compared = Compare(options, clock, err);
  if (!compared.ok()) {
    err << "tollgate bench: " << compared.status().message() << "\n";
    return kExitError;
  }
  out << (options.json ? ToJson(options, *compared) + "\n"
                       : ToText(options, *compared));
  return compared->coalesced.decisions > 0 ? kExitOk : kExitError;
}

}  // namespace tollgate::cli
