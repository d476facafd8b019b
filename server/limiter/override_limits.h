#ifndef TOLLGATE_SERVER_LIMITER_OVERRIDE_LIMITS_H_
#define TOLLGATE_SERVER_LIMITER_OVERRIDE_LIMITS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

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
  static constexpr size_t kSlots = 16'384;

  // Where the limit is, or where it belongs.
  std::atomic<const Known*>& SlotOf(const BoundRule& rule,
                                    const LimitOverride& limit);

  Registry& registry_;
  Mutex mutex_;  // one writer at a time
  std::array<std::atomic<const Known*>, kSlots> slots_{};
  std::array<std::unique_ptr<const Known>, kMaxLimits> known_
      ABSL_GUARDED_BY(mutex_);
  size_t count_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_LIMITER_OVERRIDE_LIMITS_H_
