#ifndef TOLLGATE_SERVER_METRICS_STORE_FAMILIES_H_
#define TOLLGATE_SERVER_METRICS_STORE_FAMILIES_H_

#include <vector>

#include "prometheus/metric_family.h"
#include "server/metrics/metrics.h"

namespace tollgate {

// Adds tollgate_store_errors_total, tollgate_store_run_errors_total and
// tollgate_store_duration_seconds.
void AddStoreFamilies(const StoreTotals& store,
                      std::vector<prometheus::MetricFamily>& out);

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_METRICS_STORE_FAMILIES_H_
