#ifndef TOLLGATE_SERVER_LIMITER_DESCRIPTOR_CHARGE_H_
#define TOLLGATE_SERVER_LIMITER_DESCRIPTOR_CHARGE_H_

#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "server/limiter/charge.h"
#include "server/limiter/decision.h"
#include "server/limiter/override_limits.h"
#include "server/limiter/request.h"
#include "server/limiter/rule_set.h"

namespace tollgate {

// One limit that one descriptor of a request meets. Where the descriptors are
// charged each on its own, as in Envoy's protocol, these take the place of the
// charges of charge.h. A plain value; valid while the rule set is.
struct DescriptorCharge {
  // Its limit is null where the request brought one too many.
  Charge charge;
  BucketAction action = BucketAction::kTake;
  bool quota = false;
  bool unlimited = false;
  bool refuses_all = false;
  const NodeRule* node = nullptr;      // null under a native rule
  const NodeLimit* written = nullptr;  // null there too

  // Whether there is a bucket to ask.
  [[nodiscard]] bool asks_bucket() const {
    return !unlimited && !refuses_all && action != BucketAction::kNone &&
           charge.limit != nullptr;
  }
};

struct DescriptorSelection {
  // In the order of the descriptors; under native rules, of the rules.
  absl::InlinedVector<DescriptorCharge, 4> charges;
  uint32_t bad_addresses = 0;
  // Some limit that the request brought along is one too many to remember.
  bool too_many_overrides = false;
};

// Whether the descriptors are charged each on its own.
[[nodiscard]] inline bool IsByDescriptor(const Request& request,
                                         const DomainRules& domain) {
  return domain.tree.has_value() || !request.terms.empty();
}

// Everything that the descriptors of the request meet in a domain with nodes,
// or with terms in any domain. `overrides` remembers the limits that the
// request brings along. `ticket` names what concurrency rules take.
[[nodiscard]] DescriptorSelection SelectByDescriptor(const Request& request,
                                                     const DomainRules& domain,
                                                     OverrideLimits& overrides,
                                                     uint64_t ticket);

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_LIMITER_DESCRIPTOR_CHARGE_H_
