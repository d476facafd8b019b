#include "server/metrics/process_families.h"

#include "server/metrics/process_stats.h"

namespace tollgate {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

MetricFamily GaugeFamily(const char* name, const char* help, double value) {
  ClientMetric metric;
  metric.gauge.value = value;
  return {name, help, MetricType::Gauge, {metric}};
}

}  // namespace

void AddProcessFamilies(std::vector<MetricFamily>& out) {
  const ProcessStats process = ReadProcessStats();
  out.push_back(GaugeFamily("process_start_time_seconds",
                            "When the process started, since the Unix epoch.",
                            process.start_time_seconds));
  out.push_back(GaugeFamily("process_resident_memory_bytes", "Resident memory.",
                            process.resident_memory_bytes));
  ClientMetric cpu;
  cpu.counter.value = process.cpu_seconds;
  out.push_back({"process_cpu_seconds_total",
                 "User and system CPU time.",
                 MetricType::Counter,
                 {cpu}});
  out.push_back(GaugeFamily("process_open_fds", "Open file descriptors.",
                            process.open_fds));
}

}  // namespace tollgate
