#ifndef TOLLGATE_SERVER_METRICS_REFUSED_FAMILIES_H_
#define TOLLGATE_SERVER_METRICS_REFUSED_FAMILIES_H_

#include <vector>

#include "prometheus/metric_family.h"
#include "server/limiter/refused_keys.h"

namespace tollgate {

// Adds tollgate_top_refused_ratio: for each rule of `report`, the part of its
// refusals of late that its most refused key has, as far as it is certain. No
// key is told. Rules whose buckets have no key are left out, since one key is
// all that they have, unless the keys are kept as hashes.
void AddRefusedFamilies(const RefusedKeysReport& report,
                        std::vector<prometheus::MetricFamily>& out);

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_METRICS_REFUSED_FAMILIES_H_
