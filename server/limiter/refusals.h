#ifndef TOLLGATE_SERVER_LIMITER_REFUSALS_H_
#define TOLLGATE_SERVER_LIMITER_REFUSALS_H_

#include "absl/types/span.h"
#include "server/limiter/charge.h"
#include "server/limiter/decision.h"
#include "server/limiter/descriptor_charge.h"
#include "server/limiter/refused_keys.h"
#include "server/limiter/request.h"

namespace tollgate {

// Bytes of a refused key's text that are kept.
inline constexpr size_t kMaxRefusedKeyBytes = 256;

// Counts each key of `request` that a rule refuses, once a rule, also where the
// rule is a shadow or its penalty blocks the key. A cost that is impossible is
// a mistake and no refusal, and a charge that takes nothing is none. The
// decision has a status for each charge, in the same order. Thread-safe.
void CountRefusals(const Request& request, absl::Span<const Charge> charges,
                   const Decision& decision, RefusedKeys& refused_keys);
void CountRefusals(const Request& request,
                   absl::Span<const DescriptorCharge> charges,
                   const Decision& decision, RefusedKeys& refused_keys);

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_LIMITER_REFUSALS_H_
