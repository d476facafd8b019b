#ifndef TOLLGATE_SERVER_LIMITER_DESCRIPTOR_SETTLEMENT_H_
#define TOLLGATE_SERVER_LIMITER_DESCRIPTOR_SETTLEMENT_H_

#include "server/limiter/decision.h"
#include "server/limiter/descriptor_charge.h"

namespace tollgate {

// Settles the charges of one request that is charged by descriptor, and fills
// in the decision's outcome, waits, slots and statuses, one for each charge.
//
// All or nothing, as under native rules: on a refusal of an enforced rule what
// was taken is given back. Descriptors under a quota_mode rule are apart. One
// that is refused takes nothing, whichever of its limits refuses, and stops
// nobody; if every one of them is refused, so is the request, and what the
// others took is given back too. A shadow rule never refuses, so a quota_mode
// rule in shadow mode counts as one that allowed. Refunds come last, whatever
// the outcome. AnyBuckets is Buckets, or PlannedBuckets for those that another
// store keeps.
template <typename AnyBuckets>
void Settle(AnyBuckets& buckets, DescriptorSelection& selection,
            Decision& decision);

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_LIMITER_DESCRIPTOR_SETTLEMENT_H_
