#include "server/limiter/descriptor_settlement.h"

#include <algorithm>

#include "server/limiter/buckets.h"
#include "server/limiter/charge_status.h"
#include "server/limiter/planned_buckets.h"

namespace tollgate {
namespace {

template <typename AnyBuckets>
class DescriptorSettlement {
 public:
  DescriptorSettlement(AnyBuckets& buckets, DescriptorSelection& selection,
                       Decision& decision)
      : buckets_(buckets),
        charges_(selection.charges),
        decision_(decision),
        taking_(!decision.peek &&
                std::none_of(charges_.begin(), charges_.end(),
                             [](const DescriptorCharge& c) {
                               return c.charge.impossible && !c.charge.shadow &&
                                      !c.quota &&
                                      c.action == BucketAction::kTake;
                             })) {}

  void Run() {
    decision_.statuses.resize(charges_.size());
    for (size_t begin = 0; begin < charges_.size();) {
      const size_t end = GroupEnd(begin);
      if (charges_[begin].quota) {
        RunQuota(begin, end);
      } else {
        RunEnforced(begin);
      }
      begin = end;
    }
    if (quota_groups_ > 0 && quota_over_ == quota_groups_) CountQuota();
    if (!decision_.allowed()) {
      GiveBack(0, charges_.size());
    } else {
      Conclude();
    }
    if (!decision_.peek) Punish();
    if (decision_.outcome == Outcome::kRefused) {
      WaitForAllOfABucket();
      decision_.stands_for_ns = StandsForNs();
    }
    Refund();
  }

 private:
  // The limits of one descriptor under a quota_mode rule are one group; any
  // other charge is its own.
  [[nodiscard]] size_t GroupEnd(size_t begin) const {
    size_t end = begin + 1;
    while (charges_[begin].quota && end < charges_.size() &&
           charges_[end].charge.rule == charges_[begin].charge.rule &&
           charges_[end].charge.descriptor ==
               charges_[begin].charge.descriptor) {
      ++end;
    }
    return end;
  }

  void RunEnforced(size_t i) {
    Ask(i);
    Count(decision_.statuses[i], decision_);
    if (taking_ && !decision_.allowed()) {
      taking_ = false;
      GiveBack(0, i);
    }
  }

  void RunQuota(size_t begin, size_t end) {
    const bool was_taking = taking_;
    bool over = false;
    for (size_t i = begin; i < end; ++i) {
      Ask(i);
      const RuleStatus& status = decision_.statuses[i];
      if (status.shadow || status.outcome == Outcome::kAllowed) continue;
      over = true;
      taking_ = false;  // the rest of the group only looks
    }
    if (over) GiveBack(begin, end);
    taking_ = was_taking;
    ++quota_groups_;
    if (over) ++quota_over_;
  }

  // Whether a native rule asks; a limit of the request's own is not one.
  static bool IsNative(const Charge& charge) {
    return !charge.rule->rule.node.has_value() &&
           charge.rule->rule.name != kOverrideRule;
  }

  // Fills in the status of charge `i`.
  void Ask(size_t i) {
    DescriptorCharge& c = charges_[i];
    RuleStatus& status = decision_.statuses[i];
    status.rule = c.charge.rule->id;
    status.shadow = c.charge.shadow;
    status.descriptor = c.charge.descriptor;
    status.action = c.action;
    status.quota = c.quota;
    status.unlimited = c.unlimited;
    status.refuses_all = c.refuses_all;
    status.node = c.node;
    status.written = c.written;
    if (c.unlimited || c.action == BucketAction::kNone) return;
    if (c.refuses_all) return RefuseAll(c, status);
    if (c.action == BucketAction::kRefund) return;  // when all else is settled
    if (c.charge.rule->rule.penalty.has_value() && !c.charge.impossible) {
      const Verdict gate = buckets_.PeekPenalty(c.charge);
      c.charge.blocked = !gate.allowed;
      if (c.charge.blocked) return FillStatus(c.charge, gate, status);
    }
    if (!taking_ || c.charge.impossible || c.action == BucketAction::kProbe) {
      return Look(i);
    }
    const Verdict verdict = buckets_.Take(c.charge);
    c.charge.taken = verdict.allowed;
    c.charge.taken_at_ns = verdict.at_ns;
    FillStatus(c.charge, verdict, status);
  }

  static void RefuseAll(const DescriptorCharge& c, RuleStatus& status) {
    status.limit = c.charge.limit->limit;
    status.reset_after_ns = status.limit.period_ns();
    if (c.charge.impossible) status.outcome = Outcome::kImpossible;
  }

  // Fills in what the bucket of charge `i` says as it is.
  void Look(size_t i) {
    const DescriptorCharge& c = charges_[i];
    Charge charge = c.charge;
    if (c.action == BucketAction::kRefund) charge.ask = tollgate::Ask();
    Verdict verdict = buckets_.Peek(charge);
    const bool never_refused =
        c.action == BucketAction::kRefund ||
        (c.action == BucketAction::kProbe && !IsNative(charge));
    if (never_refused) {
      verdict.allowed = true;
      verdict.delay_ns = 0;
    }
    FillStatus(charge, verdict, decision_.statuses[i]);
  }

  // Gives back what the charges [begin, end) took, and looks at their buckets
  // again.
  void GiveBack(size_t begin, size_t end) {
    for (size_t i = end; i-- > begin;) {
      const Charge& charge = charges_[i].charge;
      if (charge.taken) buckets_.Refund(charge, charge.taken_at_ns);
    }
    for (size_t i = begin; i < end; ++i) {
      Charge& charge = charges_[i].charge;
      if (!charge.taken) continue;
      charge.taken = false;
      Look(i);
      if (!charges_[i].quota) Count(decision_.statuses[i], decision_);
    }
  }

  // All quota_mode descriptors are refused: so is the request.
  void CountQuota() {
    for (size_t i = 0; i < charges_.size(); ++i) {
      if (charges_[i].quota) Count(decision_.statuses[i], decision_);
    }
  }

  void Conclude() {
    for (size_t i = 0; i < charges_.size(); ++i) {
      const Charge& charge = charges_[i].charge;
      if (!charge.shadow) {
        decision_.delay_ns =
            std::max(decision_.delay_ns, decision_.statuses[i].delay_ns);
      }
      AddTaken(charge, decision_);
    }
  }

  // Counts a refusal against each key of a native rule that was refused, once.
  void Punish() {
    const BoundRule* counted_rule = nullptr;
    uint64_t counted_key = 0;
    for (size_t i = 0; i < charges_.size(); ++i) {
      const Charge& charge = charges_[i].charge;
      RuleStatus& status = decision_.statuses[i];
      if (!charge.rule->rule.penalty.has_value() || charge.blocked ||
          charge.overflow || charges_[i].action != BucketAction::kTake ||
          status.outcome != Outcome::kRefused) {
        continue;
      }
      const bool counted =
          counted_rule == charge.rule && counted_key == charge.fingerprint.hi;
      counted_rule = charge.rule;
      counted_key = charge.fingerprint.hi;
      const Verdict verdict =
          counted ? buckets_.PeekPenalty(charge) : buckets_.TakePenalty(charge);
      if (verdict.allowed) continue;
      status.retry_after_ns =
          std::max(status.retry_after_ns, verdict.retry_after_ns);
      Count(status, decision_);
    }
  }

  // Whether charge `i` takes tokens if the request is allowed, and may refuse
  // it.
  [[nodiscard]] bool IsWaitedFor(size_t i) const {
    const DescriptorCharge& c = charges_[i];
    return c.action == BucketAction::kTake && !c.quota && !c.unlimited &&
           !c.refuses_all && !c.charge.shadow && !c.charge.impossible &&
           !c.charge.blocked;
  }

  // Descriptors that want tokens of one bucket wait until it has enough for all
  // of them. What each was told is of its own, since a descriptor that is
  // refused takes nothing from those behind it.
  void WaitForAllOfABucket() {
    for (size_t i = 1; i < charges_.size(); ++i) {
      if (!IsWaitedFor(i)) continue;
      Charge together = charges_[i].charge;
      const uint64_t own = together.ask.cost;
      for (size_t j = 0; j < i; ++j) {
        const Charge& before = charges_[j].charge;
        if (IsWaitedFor(j) && before.rule == together.rule &&
            before.bucket() == together.bucket()) {
          together.ask.cost += before.ask.cost;
        }
      }
      if (together.ask.cost == own) continue;
      decision_.retry_after_ns = std::max(
          decision_.retry_after_ns, buckets_.Peek(together).retry_after_ns);
    }
  }

  // One limit that refuses on its own is enough, whatever becomes of the
  // others; but a request that gives tokens back may end its own refusal.
  [[nodiscard]] int64_t StandsForNs() const {
    int64_t stands_for_ns = 0;
    for (size_t i = 0; i < charges_.size(); ++i) {
      const DescriptorCharge& c = charges_[i];
      const RuleStatus& status = decision_.statuses[i];
      if (c.action == BucketAction::kRefund) return 0;
      if (c.quota || c.charge.shadow || status.outcome != Outcome::kRefused) {
        continue;
      }
      if (c.charge.rule->rule.penalty.has_value() && !c.charge.blocked) {
        return 0;
      }
      if (c.charge.algorithm().TakesByTicket() && !c.charge.blocked) continue;
      if (c.charge.overflow) continue;  // until there is room for its own
      stands_for_ns = std::max(stands_for_ns, status.retry_after_ns);
    }
    return stands_for_ns;
  }

  void Refund() {
    for (size_t i = 0; i < charges_.size(); ++i) {
      const DescriptorCharge& c = charges_[i];
      if (c.action != BucketAction::kRefund || c.unlimited || c.refuses_all) {
        continue;
      }
      if (!decision_.peek && !c.charge.algorithm().TakesByTicket()) {
        buckets_.Refund(c.charge, decision_.decided_at_ns);
      }
      Look(i);
    }
  }

  AnyBuckets& buckets_;
  absl::InlinedVector<DescriptorCharge, 4>& charges_;
  Decision& decision_;
  bool taking_;
  size_t quota_groups_ = 0;
  size_t quota_over_ = 0;
};

}  // namespace

template <typename AnyBuckets>
void Settle(AnyBuckets& buckets, DescriptorSelection& selection,
            Decision& decision) {
  DescriptorSettlement<AnyBuckets>(buckets, selection, decision).Run();
}

template void Settle(Buckets&, DescriptorSelection&, Decision&);
template void Settle(PlannedBuckets&, DescriptorSelection&, Decision&);

}  // namespace tollgate
