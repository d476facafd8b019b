#ifndef TOLLGATE_SERVER_LIMITER_PLAN_H_
#define TOLLGATE_SERVER_LIMITER_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "server/limiter/charge.h"
#include "server/limiter/decision.h"
#include "server/limiter/descriptor_charge.h"
#include "server/limiter/loose_bucket.h"
#include "server/limiter/request.h"
#include "server/limiter/rule_set.h"

namespace tollgate {

// A bucket of a plan. Names and rules live as long as the plan.
struct PlannedBucket {
  Fingerprint fingerprint;
  const BoundRule* rule = nullptr;
  const Algorithm* algorithm = nullptr;  // the rule's, or Penalty()
  Limit limit;
  uint32_t slot = 0;        // of the limit in its rule
  uint32_t descriptor = 0;  // of the request, where the key's values are

  // What its store tells: the bucket before the request took anything. Unset
  // where the store does not answer, so that the rule's outage policy decides.
  std::optional<LooseBucket> found = std::nullopt;
};

// What is wanted of a bucket, in the order of the decision.
struct PlannedAsk {
  enum class Kind {
    kTake,
    kLook,    // refuses as a take would, takes nothing
    kNever,   // asks no bucket, and refuses: more than one can ever hold
    kRefund,  // once all else is settled, whatever the outcome
  };
  static constexpr size_t kNone = static_cast<size_t>(-1);

  Kind kind = Kind::kTake;
  bool shadow = false;     // its refusal stops nobody
  size_t charge = 0;       // of the plan
  size_t bucket = kNone;   // of the plan; kNone with kNever
  size_t penalty = kNone;  // the bucket that counts refusals of the key
  // Asks that follow each other with one number above 0 are the limits of one
  // descriptor under a quota_mode rule: they are all or nothing on their own,
  // and refuse the request only if every such group refuses.
  uint32_t group = 0;
  Ask ask;
};

// A request that is decided by buckets that another store keeps: what it wants
// of which, so that the store need not know what a request or a rule is. A
// Limiter makes it under the rules in force and keeps them alive with it; the
// store asks its buckets and puts what it found into `found`; the limiter
// concludes, as if the buckets were its own. Thread-compatible.
class Plan {
 public:
  // Whether the store has nothing to do, since no bucket is concerned or the
  // decision is made (expired, overridden).
  [[nodiscard]] bool is_done() const { return buckets_.empty() || is_decided_; }
  // Whether nothing is taken, counted or given back: a peek.
  [[nodiscard]] bool is_peek() const { return decision_.peek; }
  // Whether some cost is above what its bucket can ever hold, so that every
  // bucket is only looked at.
  [[nodiscard]] bool only_looks() const { return only_looks_; }
  // Groups of asks; some may have none.
  [[nodiscard]] uint32_t quota_groups() const { return quota_groups_; }

  [[nodiscard]] std::vector<PlannedBucket>& buckets() { return buckets_; }
  [[nodiscard]] absl::Span<const PlannedAsk> asks() const { return asks_; }
  [[nodiscard]] const Request& request() const { return *request_; }

  // After it is concluded: whether what the ask took is kept. What it took and
  // is not kept must be given back.
  [[nodiscard]] bool IsKept(const PlannedAsk& ask) const {
    return ChargeAt(ask.charge).taken;
  }

 private:
  friend class Planner;

  [[nodiscard]] const Charge& ChargeAt(size_t i) const {
    return by_descriptor_ ? described_.charges[i].charge
                          : selection_.charges[i];
  }
  size_t BucketOf(const Charge& charge, const Algorithm& algorithm);
  void AddNative();
  void AddDescribed();

  const Request* request_ = nullptr;
  std::shared_ptr<const RuleSet> rules_;
  const DomainRules* domain_ = nullptr;
  bool by_descriptor_ = false;  // `described_` is in use, not `selection_`
  bool only_looks_ = false;
  bool is_decided_ = false;
  uint32_t quota_groups_ = 0;
  Selection selection_;
  DescriptorSelection described_;
  Decision decision_;
  std::vector<PlannedBucket> buckets_;
  std::vector<PlannedAsk> asks_;
};

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_LIMITER_PLAN_H_
