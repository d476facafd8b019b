#include "tests/limiter/naive_model.h"

#include <algorithm>

namespace tollgate {
namespace {

int64_t DivideUp(absl::uint128 a, absl::uint128 b) {
  return static_cast<int64_t>(absl::Uint128Low64((a + b - 1) / b));
}

}  // namespace

absl::uint128 NaiveBucket::SpentAt(int64_t now_ns) const {
  const int64_t elapsed = std::max(now_ns, own_ns_) - own_ns_;
  const absl::uint128 refilled =
      absl::uint128(static_cast<uint64_t>(elapsed)) * limit_.tokens();
  return refilled >= spent_ ? absl::uint128(0) : spent_ - refilled;
}

void NaiveBucket::Set(absl::uint128 spent, int64_t now_ns) {
  spent_ = spent;
  own_ns_ = std::max(own_ns_, now_ns);
}

bool NaiveBucket::Allows(uint64_t cost, int64_t now_ns) const {
  return SpentAt(now_ns) + Token() * cost <= Capacity();
}

int64_t NaiveBucket::RetryAfter(uint64_t cost, int64_t now_ns) const {
  if (Allows(cost, now_ns)) return 0;
  return DivideUp(SpentAt(now_ns) + Token() * cost - Capacity(),
                  limit_.tokens());
}

int64_t NaiveBucket::ResetAfter(int64_t now_ns) const {
  return DivideUp(SpentAt(now_ns), limit_.tokens());
}

uint64_t NaiveBucket::Remaining(int64_t now_ns) const {
  const absl::uint128 spent = SpentAt(now_ns);  // leaky: above the capacity too
  return spent >= Capacity()
             ? 0
             : absl::Uint128Low64((Capacity() - spent) / Token());
}

bool NaiveBucket::IsFullAt(int64_t now_ns) const {
  return now_ns >= own_ns_ && SpentAt(now_ns) == 0;
}

void NaiveBucket::Take(uint64_t cost, int64_t now_ns) {
  Set(SpentAt(now_ns) + Token() * cost, now_ns);
}

void NaiveBucket::Refund(uint64_t cost, int64_t now_ns) {
  const absl::uint128 spent = SpentAt(now_ns);
  const absl::uint128 back = Token() * cost;
  Set(back >= spent ? absl::uint128(0) : spent - back, now_ns);
}

void NaiveBucket::Rescale(const Limit& to, int64_t now_ns) {
  const absl::uint128 spent = SpentAt(now_ns);
  const absl::uint128 from_token = Token();
  limit_ = to;
  const absl::uint128 most =
      Capacity() +
      absl::uint128(static_cast<uint64_t>(to.hold_ns())) * to.tokens();
  Set(std::min((spent * Token() + from_token - 1) / from_token, most), now_ns);
}

void NaiveBucket::NotBefore(int64_t ns) { own_ns_ = std::max(own_ns_, ns); }

void NaiveModel::SetRules(std::vector<Rule> rules, int64_t now_ns) {
  rules_ = std::move(rules);
  for (const Rule& rule : rules_) {
    for (size_t slot = 0; slot < rule.limits.size(); ++slot) {
      const Limit& limit = rule.limits[slot];
      const auto [it, is_new] = bound_.try_emplace({rule.name, slot}, limit);
      if (is_new || it->second == limit) continue;
      it->second = limit;
      for (auto& [key, bucket] : buckets_) {
        if (std::get<0>(key) == rule.name && std::get<2>(key) == slot) {
          bucket.Rescale(limit, now_ns);
        }
      }
    }
  }
}

std::vector<NaiveModel::Charge> NaiveModel::Select(const Entries& entries,
                                                   uint64_t cost) const {
  std::vector<Charge> charges;
  for (const Rule& rule : rules_) {
    std::vector<std::string> values;
    for (const KeyPart& part : rule.key) {
      const auto it = entries.find(part.alternatives.at(0).entry);
      if (it != entries.end()) values.push_back(it->second);
    }
    if (values.size() < rule.key.size()) continue;
    for (size_t slot = 0; slot < rule.limits.size(); ++slot) {
      charges.push_back(Charge{Key(rule.name, values, slot), rule.limits[slot],
                               cost * rule.cost, rule.mode == Mode::kShadow});
    }
  }
  return charges;
}

NaiveBucket NaiveModel::Look(const Charge& charge) const {
  const auto it = buckets_.find(charge.key);
  return it == buckets_.end() ? NaiveBucket(charge.limit) : it->second;
}

NaiveStatus NaiveModel::Describe(const Charge& charge, int64_t now_ns) const {
  const NaiveBucket bucket = Look(charge);
  NaiveStatus status;
  status.remaining = bucket.Remaining(now_ns);
  status.reset_after_ns = bucket.ResetAfter(now_ns);
  if (charge.taken) return status;
  if (charge.cost > charge.limit.burst()) {
    status.outcome = Outcome::kImpossible;
  } else if (!bucket.Allows(charge.cost, now_ns)) {
    status.outcome = Outcome::kRefused;
    status.retry_after_ns = bucket.RetryAfter(charge.cost, now_ns);
  }
  return status;
}

bool NaiveModel::Take(Charge& charge, int64_t now_ns) {
  if (charge.cost > charge.limit.burst()) return false;
  const auto [it, is_new] =
      buckets_.try_emplace(charge.key, NaiveBucket(charge.limit));
  if (is_new) it->second.NotBefore(forgot_ns_);
  charge.taken = it->second.Allows(charge.cost, now_ns);
  if (charge.taken) it->second.Take(charge.cost, now_ns);
  return charge.taken;
}

NaiveDecision NaiveModel::Decide(const Entries& entries, uint64_t cost,
                                 int64_t now_ns) {
  std::vector<Charge> charges = Select(entries, std::max<uint64_t>(cost, 1));
  const bool impossible =
      std::any_of(charges.begin(), charges.end(), [](const Charge& charge) {
        return !charge.shadow && charge.cost > charge.limit.burst();
      });
  bool refused = false;
  for (Charge& charge : charges) {
    if (cost == 0 || impossible || refused) break;
    refused = !Take(charge, now_ns) && !charge.shadow;
  }
  for (Charge& charge : charges) {
    if (!refused || !charge.taken) continue;
    buckets_.at(charge.key).Refund(charge.cost, now_ns);
    charge.taken = false;
  }
  NaiveDecision decision;
  for (const Charge& charge : charges) {
    const NaiveStatus status = Describe(charge, now_ns);
    decision.statuses.push_back(status);
    if (!charge.shadow && status.outcome == Outcome::kRefused) refused = true;
    if (!charge.shadow) {
      decision.retry_after_ns =
          std::max(decision.retry_after_ns, status.retry_after_ns);
    }
    if (charge.taken) {
      admissions_[charge.key].push_back(
          {buckets_.at(charge.key).own_ns(), charge.cost});
    }
  }
  if (impossible) decision.retry_after_ns = 0;
  decision.outcome = impossible ? Outcome::kImpossible
                     : refused  ? Outcome::kRefused
                                : Outcome::kAllowed;
  return decision;
}

size_t NaiveModel::Sweep(int64_t now_ns) {
  const size_t forgotten = std::erase_if(buckets_, [now_ns](const auto& item) {
    return item.second.IsFullAt(now_ns);
  });
  if (forgotten > 0) forgot_ns_ = std::max(forgot_ns_, now_ns);
  return forgotten;
}

}  // namespace tollgate
