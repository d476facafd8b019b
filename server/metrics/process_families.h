#ifndef TOLLGATE_SERVER_METRICS_PROCESS_FAMILIES_H_
#define TOLLGATE_SERVER_METRICS_PROCESS_FAMILIES_H_

#include <vector>

#include "prometheus/metric_family.h"

namespace tollgate {

// Adds what ReadProcessStats says, under the names that Prometheus' own client
// libraries use. Thread-safe.
void AddProcessFamilies(std::vector<prometheus::MetricFamily>& out);

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_METRICS_PROCESS_FAMILIES_H_
