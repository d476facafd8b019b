#include "server/limiter/settlement.h"

#include <algorithm>

#include "absl/types/span.h"
#include "server/limiter/buckets.h"
#include "server/limiter/charge_status.h"
#include "server/limiter/planned_buckets.h"

namespace tollgate {
namespace {

// Settles the charges of one request: takes, gives back, looks on.
template <typename AnyBuckets>
class Settlement {
 public:
  // The statuses of `decision` become one for each charge.
  Settlement(AnyBuckets& buckets, const DomainRules& domain,
             Selection& selection, Decision& decision)
      : buckets_(buckets),
        charges_(absl::MakeSpan(selection.charges)),
        decision_(decision),
        taking_(!decision.peek),
        has_tickets_(domain.has_tickets) {
    decision.statuses.resize(charges_.size());
    statuses_ = absl::MakeSpan(decision.statuses);
    for (const Charge& charge : charges_) {
      if (charge.impossible && !charge.shadow) taking_ = false;
      has_penalty_ |= charge.rule->rule.penalty.has_value();
    }
  }

  void Run() {
    for (size_t i = 0; i < charges_.size(); ++i) {
      const Verdict verdict = Ask(charges_[i]);
      FillStatus(charges_[i], verdict, statuses_[i]);
      refused_ |= !verdict.allowed;
      Count(statuses_[i], decision_);
      if (taking_ && !decision_.allowed()) {
        taking_ = false;
        GiveBack(i);
      }
    }
    if (decision_.allowed()) Conclude();
    if (has_penalty_ && !decision_.peek) Punish();
    if (decision_.outcome == Outcome::kRefused) {
      decision_.stands_for_ns = StandsForNs();
    }
  }

  // Whether some rule may have refused, enforced or not.
  [[nodiscard]] bool refused() const { return refused_; }

 private:
  Verdict Ask(Charge& charge) {
    if (charge.rule->rule.penalty.has_value() && !charge.impossible) {
      const Verdict gate = buckets_.PeekPenalty(charge);
      charge.blocked = !gate.allowed;
      if (charge.blocked) return gate;
    }
    if (!taking_ || charge.impossible) {
      return buckets_.Peek(charge);
    }
    const Verdict verdict = buckets_.Take(charge);
    charge.taken = verdict.allowed;
    charge.taken_at_ns = verdict.at_ns;
    has_overflow_ |= charge.overflow;
    return verdict;
  }

  // What the charges before `refused`, and itself, have taken.
  void GiveBack(size_t refused) {
    for (size_t i = refused + 1; i-- > 0;) {
      Charge& charge = charges_[i];
      if (!charge.taken) continue;
      buckets_.Refund(charge, charge.taken_at_ns);
      charge.taken = false;
      FillStatus(charge, buckets_.Peek(charge), statuses_[i]);
      Count(statuses_[i], decision_);
    }
  }

  void Conclude() {
    for (const RuleStatus& status : statuses_) {
      if (status.delay_ns > decision_.delay_ns && !status.shadow) {
        decision_.delay_ns = status.delay_ns;
      }
    }
    if (!has_tickets_ && !has_overflow_) return;
    for (const Charge& charge : charges_) {
      AddTaken(charge, decision_);
    }
  }

  // Counts a refusal against each key that was refused, once. What a bucket
  // refuses that many share is not this key's doing.
  void Punish() {
    for (size_t i = 0; i < charges_.size(); ++i) {
      const Charge& charge = charges_[i];
      RuleStatus& status = statuses_[i];
      if (!charge.rule->rule.penalty.has_value() || charge.blocked ||
          charge.overflow || status.outcome != Outcome::kRefused) {
        continue;
      }
      const Verdict verdict = IsCounted(i) ? buckets_.PeekPenalty(charge)
                                           : buckets_.TakePenalty(charge);
      if (verdict.allowed) continue;
      status.retry_after_ns =
          std::max(status.retry_after_ns, verdict.retry_after_ns);
      Count(status, decision_);
    }
  }

  // Whether another limit of the same rule and key has counted the refusal. All
  // limits of one key stand together.
  [[nodiscard]] bool IsCounted(size_t i) const {
    for (size_t j = i;
         j-- > 0 && charges_[j].rule == charges_[i].rule &&
         charges_[j].fingerprint.hi == charges_[i].fingerprint.hi;) {
      if (!charges_[j].overflow && statuses_[j].outcome == Outcome::kRefused) {
        return true;
      }
    }
    return false;
  }

  // One rule that refuses is enough, whatever becomes of the others.
  [[nodiscard]] int64_t StandsForNs() const {
    int64_t stands_for_ns = 0;
    for (size_t i = 0; i < charges_.size(); ++i) {
      const Charge& charge = charges_[i];
      const RuleStatus& status = statuses_[i];
      if (charge.shadow || status.outcome != Outcome::kRefused) continue;
      if (charge.rule->rule.penalty.has_value() && !charge.blocked) return 0;
      if (charge.algorithm().TakesByTicket() && !charge.blocked) continue;
      if (charge.overflow) continue;  // until there is room for one of its own
      stands_for_ns = std::max(stands_for_ns, status.retry_after_ns);
    }
    return stands_for_ns;
  }

  AnyBuckets& buckets_;
  const absl::Span<Charge> charges_;
  absl::Span<RuleStatus> statuses_;
  Decision& decision_;
  bool taking_;
  const bool has_tickets_;
  bool has_penalty_ = false;
  bool has_overflow_ = false;  // some charge took from a shared bucket
  bool refused_ = false;
};

}  // namespace

template <typename AnyBuckets>
bool Settle(AnyBuckets& buckets, const DomainRules& domain,
            Selection& selection, Decision& decision) {
  Settlement<AnyBuckets> settlement(buckets, domain, selection, decision);
  settlement.Run();
  return settlement.refused();
}

template bool Settle(Buckets&, const DomainRules&, Selection&, Decision&);
template bool Settle(PlannedBuckets&, const DomainRules&, Selection&,
                     Decision&);

}  // namespace tollgate
