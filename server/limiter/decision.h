#ifndef TOLLGATE_SERVER_LIMITER_DECISION_H_
#define TOLLGATE_SERVER_LIMITER_DECISION_H_

#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "server/base/keyed_hash.h"
#include "server/limiter/limit.h"
#include "server/limiter/limit_unit.h"
#include "server/limiter/node_rule.h"
#include "server/limiter/registry.h"

namespace tollgate {

enum class Outcome {
  kAllowed,
  kRefused,     // some rule is over its limit: waiting helps
  kImpossible,  // the cost is above what some bucket can hold: waiting does not
  kExpired,     // the request's deadline had passed: nothing was taken
  kOverridden,  // too many different limits of requests' own: nothing was taken
};

// "allowed", "refused", "impossible", "expired", "overridden".
[[nodiscard]] absl::string_view OutcomeName(Outcome outcome);

// What was asked of a bucket.
enum class BucketAction {
  kTake,    // the cost
  kProbe,   // only to look: DescriptorTerms::hits 0
  kRefund,  // to take the hits back
  kNone,    // nothing, since another rule of the request replaces this one
};

// What one bucket of one rule says of the request.
//
// Under a rule from an Envoy-format file a bucket is charged once for each
// descriptor that selects it, and its status tells what that descriptor found.
// A refusal of such a rule with `quota` set refuses the request only if all
// descriptors with such rules were refused (Decision::outcome says so).
struct RuleStatus {
  // Not left to the compiler, which would clear all of it first: on the path of
  // every decision.
  RuleStatus() {}  // NOLINT(modernize-use-equals-default): see above

  const RuleId* rule = nullptr;  // lives as long as the limiter
  Limit limit;
  Outcome outcome = Outcome::kAllowed;  // what this rule alone would answer
  bool shadow = false;                  // reported, not enforced
  bool unlimited = false;               // an allow-list; it has no limit
  bool overflow = false;                // of the bucket that new keys share
  // The store was out of reach: the rule's outage policy said this.
  bool outage = false;
  uint64_t remaining = 0;      // whole tokens, after this decision
  int64_t retry_after_ns = 0;  // 0 unless this rule refuses
  int64_t reset_after_ns = 0;  // until the bucket is full
  int64_t delay_ns = 0;        // leaky_bucket: wait before going ahead
  // Which descriptor of the request this is about, from 0. Under a native rule
  // whose bucket several descriptors select, the one that asks the most of it.
  uint32_t descriptor = 0;
  BucketAction action = BucketAction::kTake;
  bool quota = false;        // quota_mode
  bool refuses_all = false;  // 0 requests per unit: `limit` means nothing,
                             // remaining is 0, reset_after is the period
  // Of a rule from an Envoy-format file: its node and the limit as the file has
  // it. Null under other rules and where the request brought the limit along.
  // They are valid until this thread asks any limiter again.
  const NodeRule* node = nullptr;
  const NodeLimit* written = nullptr;
};

// A limit in the words of Envoy's protocol: RateLimitResponse.RateLimit.
struct EnvoyLimit {
  uint64_t requests_per_unit = 0;
  LimitUnit unit = LimitUnit::kUnknown;
  uint32_t unit_multiplier = 1;
  absl::string_view name;
};

// The status's limit as Envoy's protocol has it: as an Envoy-format file or the
// request wrote it; otherwise a native rule's tokens, its name, and the unit if
// its period is one, else kUnknown. Not of an unlimited status. Views live as
// long as what the status points at.
[[nodiscard]] EnvoyLimit ToEnvoyLimit(const RuleStatus& status);

// Slots that a request holds under one rule, for BucketStore::Release.
struct HeldSlots {
  Fingerprint fingerprint;
  uint64_t ticket = 0;
  // Where another store than this process keeps them; empty otherwise. Valid
  // as long as what the decision points at.
  absl::string_view place = {};
};

// The answer to a Request. A plain value.
struct Decision {
  Outcome outcome = Outcome::kAllowed;
  // With kRefused: the longest wait of the rules that refuse, exact to the
  // nanosecond. Waiting that long succeeds if nobody else takes.
  int64_t retry_after_ns = 0;
  // With kRefused: how long the same request stays refused whatever others do,
  // unless tokens are given back or rules change. 0 where that is not known
  // (a slot may be freed, or a key that shares a bucket get its own), and where
  // a penalty wants to count every refusal.
  int64_t stands_for_ns = 0;
  // With kAllowed: how long to wait before going ahead, the longest of the
  // rules' delays.
  int64_t delay_ns = 0;
  // The instant of the decision, as the limiter's clock had it.
  int64_t decided_at_ns = 0;
  // The request's domain, or null if no rule names it.
  const DomainId* domain = nullptr;
  // Whether the request was a peek (cost 0).
  bool peek = false;
  // Whether every descriptor was charged on its own: the domain's rules are
  // from an Envoy-format file.
  bool by_descriptor = false;
  // One for each bucket that applies, in the order of the rules; with
  // `by_descriptor` in that of the descriptors, each with as many as it has
  // limits. None means that no rule applied, which allows.
  absl::InlinedVector<RuleStatus, 4> statuses;
  // What must be released when an allowed request is done.
  absl::InlinedVector<HeldSlots, 1> slots;
  // The overflow buckets that an allowed request took from, for
  // Limiter::Refund.
  absl::InlinedVector<Fingerprint, 1> overflow;
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
