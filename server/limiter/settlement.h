#ifndef TOLLGATE_SERVER_LIMITER_SETTLEMENT_H_
#define TOLLGATE_SERVER_LIMITER_SETTLEMENT_H_

#include "server/limiter/charge.h"
#include "server/limiter/decision.h"
#include "server/limiter/rule_set.h"

namespace tollgate {

// Settles the charges of one request under native rules: takes them all or
// none, and fills in the decision's outcome, waits, slots and statuses, one for
// each charge. Returns whether some rule refused, enforced or not. AnyBuckets
// is Buckets, or PlannedBuckets for those that another store keeps.
template <typename AnyBuckets>
bool Settle(AnyBuckets& buckets, const DomainRules& domain,
            Selection& selection, Decision& decision);

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_LIMITER_SETTLEMENT_H_
