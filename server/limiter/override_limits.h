#ifndef TOLLGATE_SERVER_LIMITER_OVERRIDE_LIMITS_H_
#define TOLLGATE_SERVER_LIMITER_OVERRIDE_LIMITS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "server/base/mutex.h"
#include "server/limiter/registry.h"
#include "server/limiter/request.h"
#include "server/limiter/rule_set.h"

namespace tollgate {

// The limits that requests have brought along so far. The registry never
// forgets a limit, so there is an end to them: callers choose their number.
// A limit that is known is found without a lock. Thread-safe.
class OverrideLimits {
 public:
  static constexpr size_t kMaxLimits = 10'000;

  // `registry` must outlive this.
  explicit OverrideLimits(Registry& registry) : registry_(registry) {}

  // The limit as buckets refer to it: one for each of the rules' domains,
  // algorithms, numbers and units. Null if it would be one too many. The limit
  // must satisfy ValidateRequest and have 1 request per unit or more. Lives as
  // long as this.
  const BoundLimit* Find(const BoundRule& rule, const LimitOverride& limit);

 private:
  struct Known {
    const RuleId* rule;
    const Algorithm* algorithm;
    LimitOverride limit;
    BoundLimit bound;
  };
  // Open addressing, at most about 60 % full; entries only appear.
  using Slots = std::array<std::atomic<const Known*>, 16'384>;

  // Finds the limit, or makes it.
  const BoundLimit* Add(const BoundRule& rule, const LimitOverride& limit);
  // Where the limit is, or where it belongs.
  static std::atomic<const Known*>& SlotOf(Slots& slots, const BoundRule& rule,
                                           const LimitOverride& limit);

  Registry& registry_;
  Mutex mutex_;  // one writer at a time
  // 128 KiB, made for the first limit: most limiters are never brought any.
  std::atomic<Slots*> slots_{nullptr};  // read without the lock
  std::unique_ptr<Slots> owned_slots_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::unique_ptr<const Known>> known_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_LIMITER_OVERRIDE_LIMITS_H_
