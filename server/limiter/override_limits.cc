#include "server/limiter/override_limits.h"

#include <string>
#include <utility>

#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"

namespace tollgate {

std::atomic<const OverrideLimits::Known*>& OverrideLimits::SlotOf(
    Slots& slots, const BoundRule& rule, const LimitOverride& limit) {
  size_t i = absl::HashOf(rule.id, rule.rule.algorithm, limit.requests_per_unit,
                          static_cast<int32_t>(limit.unit));
  for (;; ++i) {
    std::atomic<const Known*>& slot = slots[i % slots.size()];
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
  Slots* const slots = slots_.load(std::memory_order_acquire);
  if (slots != nullptr) {
    const Known* const known =
        SlotOf(*slots, rule, limit).load(std::memory_order_acquire);
    if (known != nullptr) return &known->bound;
  }
  return Add(rule, limit);
}

const BoundLimit* OverrideLimits::Add(const BoundRule& rule,
                                      const LimitOverride& limit) {
  MutexLock lock(mutex_);
  if (owned_slots_ == nullptr) {
    owned_slots_ = std::make_unique<Slots>();
    slots_.store(owned_slots_.get(), std::memory_order_release);
  }
  std::atomic<const Known*>& slot = SlotOf(*owned_slots_, rule, limit);
  const Known* known = slot.load(std::memory_order_relaxed);
  if (known != nullptr) return &known->bound;
  if (known_.size() == kMaxLimits) return nullptr;
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
  known_.push_back(std::move(made_known));
  return &known->bound;
}

}  // namespace tollgate
