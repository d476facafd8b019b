#ifndef TOLLGATE_SERVER_LIMITER_CHARGE_H_
#define TOLLGATE_SERVER_LIMITER_CHARGE_H_

#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "server/base/keyed_hash.h"
#include "server/limiter/request.h"
#include "server/limiter/rule_set.h"

namespace tollgate {

// One bucket that a request selects, and what it wants of it. A plain value;
// valid while the rule set is.
struct Charge {
  // Not left to the compiler, which would clear all of it first: on the path of
  // every decision.
  Charge() {}  // NOLINT(modernize-use-equals-default): see above

  const BoundRule* rule = nullptr;
  const BoundLimit* limit = nullptr;
  uint32_t position = 0;    // of the rule in its domain
  uint32_t slot = 0;        // of the limit in its rule
  uint32_t descriptor = 0;  // of the request, the first that selects it
  uint32_t sharers = 1;     // as often each refusal counts for a penalty
  Fingerprint fingerprint;
  Ask ask;
  bool shadow = false;      // counted, not enforced
  bool impossible = false;  // the bucket can never hold that much
  bool blocked = false;     // by the rule's penalty, at this decision
  bool taken = false;
  // Of the bucket that keys share, since there was no room for this one's own.
  // Decided once: whatever is given back goes where it was taken.
  bool overflow = false;
  bool too_large = false;   // more than the shared bucket can hold
  bool outage = false;      // its rule's outage policy said it, not its bucket
  int64_t taken_at_ns = 0;  // the bucket's own time then

  [[nodiscard]] const Algorithm& algorithm() const {
    return *rule->rule.algorithm;
  }
  // Where the bucket lies; `fingerprint` is the key's own.
  [[nodiscard]] const Fingerprint& bucket() const {
    return overflow ? limit->shared_bucket : fingerprint;
  }
};

struct Selection {
  // In the order of the rules.
  absl::InlinedVector<Charge, 4> charges;
  // Allow-lists that apply.
  absl::InlinedVector<const BoundRule*, 1> unlimited;
  uint32_t bad_addresses = 0;
};

// Every bucket that the request selects under the domain's rules. A cost of 0
// is selected as 1. `ticket` names what concurrency rules take.
[[nodiscard]] Selection Select(const Request& request,
                               const DomainRules& domain, uint64_t ticket);

// Whether the allow-list, where it applies, takes out the rule at `position`.
[[nodiscard]] bool TakesOut(const BoundRule& allow_list, uint32_t position);

// Lets each token of `charge`, which must have all but its `sharers`, count
// once for every limiter that shares the limit, as far as that leaves this one
// a request at a time and one in each period. What is reserved for others gives
// way where it would not fit beside that request.
void Share(uint32_t sharers, Charge& charge);

// Turns `charge`, which is of a key's own bucket under a limit that has an
// overflow, into one of the bucket that is shared.
void ShareOverflow(Charge& charge);

// The bucket that counts the refusals of the key that `charge` is of.
[[nodiscard]] Charge PenaltyCharge(const Charge& charge);

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_LIMITER_CHARGE_H_
