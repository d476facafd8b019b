#include "server/limiter/override_limits.h"

#include <string>
#include <utility>

#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"

namespace tollgate {

std::atomic<const OverrideLimits::Known*>& OverrideLimits::SlotOf(
    const BoundRule& rule, const LimitOverride& limit) {
  size_t i = absl::HashOf(rule.id, rule.rule.algorithm, limit.requests_per_unit,
                          static_cast<int32_t>(limit.unit));
  for (;; ++i) {
    std::atomic<const Known*>& slot = slots_[i % kSlots];
    const Known* const known = slot.load(std::memory_order_acquire);
    if (known == nullptr ||
        (known->rule == rule.id && known->algorithm == rule.rule.algorithm &&
         known->limit.requests_per_unit == limit.requests_per_unit &&
         known->limit.unit == limit.unit)) {
      return slot;
    }
  }
}

const BoundLimit* OverrideLimits::Find(const BoundRule& rule,
                                       const LimitOverride& limit) {
  const Known* known = SlotOf(rule, limit).load(std::memory_order_acquire);
  if (known != nullptr) return &known->bound;
  MutexLock lock(mutex_);
  std::atomic<const Known*>& slot = SlotOf(rule, limit);
  known = slot.load(std::memory_order_relaxed);
  if (known != nullptr) return &known->bound;
  if (count_ == kMaxLimits) return nullptr;
  const absl::StatusOr<Limit> made = Limit::Create(
      limit.requests_per_unit, PeriodOf(limit.unit).value_or(absl::Seconds(1)));
  if (!made.ok()) return nullptr;
  const Algorithm& algorithm = *rule.rule.algorithm;
  const std::string text = made->ToString();
  const absl::StatusOr<uint32_t> number =
      registry_.BindLimit(*rule.id, text, algorithm, *made, /*now_ns=*/0);
  if (!number.ok()) return nullptr;
  const absl::StatusOr<uint32_t> shared =
      registry_.BindLimit(*rule.id, absl::StrCat(kOverflowSlot, text),
                          algorithm, *made, /*now_ns=*/0);
  if (!shared.ok()) return nullptr;
  // Limits that callers choose each share a bucket of their own.
  auto overflow = std::make_unique<BoundLimit>(
      BoundLimit{*made, *shared, algorithm.Capacity(*made)});
  overflow->shared_bucket = OverflowBucket(rule.hash_key, text);
  auto made_known = std::make_unique<const Known>(
      Known{rule.id, &algorithm, limit,
            BoundLimit{*made, *number, algorithm.Capacity(*made),
                       std::move(overflow)}});
  slot.store(made_known.get(), std::memory_order_release);
  known = made_known.get();
  known_[count_++] = std::move(made_known);
  return &known->bound;
}

}  // namespace tollgate
