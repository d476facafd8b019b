#ifndef TOLLGATE_SERVER_LIMITER_DECISION_H_
#define TOLLGATE_SERVER_LIMITER_DECISION_H_

#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "server/base/keyed_hash.h"
#include "server/limiter/limit.h"
#include "server/limiter/registry.h"

namespace tollgate {

enum class Outcome {
  kAllowed,
  kRefused,     // some rule is over its limit: waiting helps
  kImpossible,  // the cost is above what some bucket can hold: waiting does not
  kExpired,     // the request's deadline had passed: nothing was taken
};

// "allowed", "refused", "impossible", "expired".
[[nodiscard]] absl::string_view OutcomeName(Outcome outcome);

// What one bucket of one rule says of the request.
struct RuleStatus {
  const RuleId* rule = nullptr;  // lives as long as the limiter
  Limit limit;
  Outcome outcome = Outcome::kAllowed;  // what this rule alone would answer
  bool shadow = false;                  // reported, not enforced
  bool unlimited = false;               // an allow-list; it has no limit
  uint64_t remaining = 0;               // whole tokens, after this decision
  int64_t retry_after_ns = 0;           // 0 unless this rule refuses
  int64_t reset_after_ns = 0;           // until the bucket is full
  int64_t delay_ns = 0;                 // leaky_bucket: wait before going ahead
};

// Slots that a request holds under one rule, for Limiter::Release.
struct HeldSlots {
  Fingerprint fingerprint;
  uint64_t ticket = 0;
};

// The answer to a Request. A plain value.
struct Decision {
  Outcome outcome = Outcome::kAllowed;
  // With kRefused: the longest wait of the rules that refuse, exact to the
  // nanosecond. Waiting that long succeeds if nobody else takes.
  int64_t retry_after_ns = 0;
  // With kAllowed: how long to wait before going ahead, the longest of the
  // rules' delays.
  int64_t delay_ns = 0;
  // The instant of the decision, as the limiter's clock had it.
  int64_t decided_at_ns = 0;
  // The request's domain, or null if no rule names it.
  const DomainId* domain = nullptr;
  // Whether the request was a peek (cost 0).
  bool peek = false;
  // One for each bucket that applies, in the order of the rules. None means
  // that no rule applied, which allows.
  absl::InlinedVector<RuleStatus, 4> statuses;
  // What must be released when an allowed request is done.
  absl::InlinedVector<HeldSlots, 1> slots;
  // Values that a rule wanted as an IP address and that were none.
  uint32_t bad_addresses = 0;

  [[nodiscard]] bool allowed() const { return outcome == Outcome::kAllowed; }
};

// Told of every rule set and every decision. Called on the deciding thread,
// under no lock, so it must be fast and thread-safe.
class DecisionObserver {
 public:
  virtual ~DecisionObserver() = default;
  // Before the rules come into force. Calls of OnRules do not overlap.
  virtual void OnRules(const class RuleSet& rules) = 0;
  virtual void OnDecision(const Decision& decision) = 0;
};

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_LIMITER_DECISION_H_
