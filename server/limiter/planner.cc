#include "server/limiter/planner.h"

#include <algorithm>
#include <utility>

#include "server/limiter/buckets.h"
#include "server/limiter/charge_status.h"
#include "server/limiter/descriptor_settlement.h"
#include "server/limiter/penalty.h"
#include "server/limiter/planned_buckets.h"
#include "server/limiter/settlement.h"

namespace tollgate {

size_t Plan::BucketOf(const Charge& charge, const Algorithm& algorithm) {
  for (size_t i = 0; i < buckets_.size(); ++i) {
    if (buckets_[i].fingerprint == charge.fingerprint) return i;
  }
  buckets_.push_back({charge.fingerprint, charge.rule, &algorithm,
                      charge.limit->limit, charge.slot, charge.descriptor});
  return buckets_.size() - 1;
}

void Plan::AddNative() {
  for (size_t i = 0; i < selection_.charges.size(); ++i) {
    const Charge& charge = selection_.charges[i];
    PlannedAsk ask;
    ask.charge = i;
    ask.shadow = charge.shadow;
    ask.ask = charge.ask;
    ask.bucket = BucketOf(charge, charge.algorithm());
    if (charge.impossible) {
      ask.kind = PlannedAsk::Kind::kNever;
      ask.bucket = PlannedAsk::kNone;
      only_looks_ |= !charge.shadow;
    } else if (charge.rule->rule.penalty.has_value()) {
      ask.penalty = BucketOf(PenaltyCharge(charge), Penalty());
    }
    asks_.push_back(ask);
  }
}

void Plan::AddDescribed() {
  uint32_t group = 0;
  const DescriptorCharge* last = nullptr;
  for (size_t i = 0; i < described_.charges.size(); ++i) {
    const DescriptorCharge& c = described_.charges[i];
    const bool goes_on = last != nullptr && last->quota &&
                         last->charge.rule == c.charge.rule &&
                         last->charge.descriptor == c.charge.descriptor;
    if (c.quota && !goes_on) ++group;
    last = &c;
    PlannedAsk ask;
    ask.charge = i;
    ask.shadow = c.charge.shadow;
    ask.ask = c.charge.ask;
    ask.group = c.quota ? group : 0;
    if (c.asks_bucket()) {
      ask.bucket = BucketOf(c.charge, c.charge.algorithm());
    }
    const bool takes = c.action == BucketAction::kTake && !c.unlimited;
    if (takes && c.charge.impossible) {
      ask.kind = PlannedAsk::Kind::kNever;
      ask.bucket = PlannedAsk::kNone;
      only_looks_ |= !c.charge.shadow && !c.quota;
    } else if (!c.asks_bucket()) {
      continue;
    } else if (c.action == BucketAction::kRefund) {
      if (c.charge.algorithm().TakesByTicket()) continue;
      ask.kind = PlannedAsk::Kind::kRefund;
    } else if (c.action == BucketAction::kProbe) {
      if (c.node != nullptr || c.charge.rule == &domain_->overrides) continue;
      ask.kind = PlannedAsk::Kind::kLook;
    }
    if (c.charge.rule->rule.penalty.has_value() &&
        ask.kind != PlannedAsk::Kind::kNever) {
      ask.penalty = BucketOf(PenaltyCharge(c.charge), Penalty());
    }
    asks_.push_back(ask);
  }
  quota_groups_ = group;
}

std::unique_ptr<Plan> Planner::PlanDecision(const Request& request) {
  auto plan = std::make_unique<Plan>();
  plan->request_ = &request;
  plan->rules_ = limiter_.rules();
  plan->decision_.peek = request.cost == 0;
  plan->domain_ = plan->rules_->FindDomain(request.domain);
  if (plan->domain_ == nullptr) return plan;
  const DomainRules& domain = *plan->domain_;
  plan->decision_.domain = domain.id;
  const uint64_t ticket = limiter_.NewTicket(domain);
  plan->by_descriptor_ = IsByDescriptor(request, domain);
  if (!plan->by_descriptor_) {
    plan->selection_ = Select(request, domain, ticket);
    plan->decision_.bad_addresses = plan->selection_.bad_addresses;
    plan->AddNative();
  } else {
    plan->described_ =
        SelectByDescriptor(request, domain, limiter_.overrides_, ticket);
    plan->decision_.by_descriptor = domain.tree.has_value();
    plan->decision_.bad_addresses = plan->described_.bad_addresses;
    plan->AddDescribed();
  }
  if (!limiter_.ReadClock(request, plan->decision_)) {
    plan->is_decided_ = true;
  } else if (plan->described_.too_many_overrides) {
    plan->decision_.outcome = Outcome::kOverridden;
    plan->is_decided_ = true;
  }
  return plan;
}

Decision& Planner::Conclude(Plan& plan, int64_t now_ns) {
  Decision& decision = plan.decision_;
  if (plan.domain_ == nullptr) {
    limiter_.ReadClock(*plan.request_, decision);
  } else if (!plan.is_decided_) {
    Buckets local(limiter_.table_, limiter_.overflow_, limiter_.registry_,
                  limiter_.clock_.NowNs());
    if (now_ns != 0) decision.decided_at_ns = now_ns;
    PlannedBuckets buckets(plan, local, sharers_);
    if (plan.by_descriptor_) {
      Settle(buckets, plan.described_, decision);
      limiter_.Finish(*plan.request_, plan.described_, decision);
    } else {
      const bool refused =
          Settle(buckets, *plan.domain_, plan.selection_, decision);
      limiter_.Finish(*plan.request_, plan.selection_, refused, decision);
    }
  }
  limiter_.Tell(decision);
  return decision;
}

std::unique_ptr<Plan> Planner::PlanSelected(const Request& request) {
  auto plan = std::make_unique<Plan>();
  plan->request_ = &request;
  plan->rules_ = limiter_.rules();
  plan->decision_.peek = true;
  plan->decision_.decided_at_ns = limiter_.clock_.NowNs();
  plan->domain_ = plan->rules_->FindDomain(request.domain);
  if (plan->domain_ == nullptr) return plan;
  plan->decision_.domain = plan->domain_->id;
  plan->selection_ = limiter_.SelectBuckets(request, *plan->domain_);
  return plan;
}

std::unique_ptr<Plan> Planner::PlanRefund(const Request& request) {
  std::unique_ptr<Plan> plan = PlanSelected(request);
  for (size_t i = 0; i < plan->selection_.charges.size(); ++i) {
    const Charge& charge = plan->selection_.charges[i];
    const size_t bucket = plan->BucketOf(charge, charge.algorithm());
    if (charge.impossible || charge.algorithm().TakesByTicket()) continue;
    PlannedAsk ask;
    ask.kind = PlannedAsk::Kind::kRefund;
    ask.charge = i;
    ask.bucket = bucket;
    ask.ask = charge.ask;
    plan->asks_.push_back(ask);
  }
  return plan;
}

const Decision& Planner::ConcludeRefund(Plan& plan, int64_t taken_at_ns,
                                        int64_t now_ns) {
  Decision& decision = plan.decision_;
  Buckets local(limiter_.table_, limiter_.overflow_, limiter_.registry_,
                limiter_.clock_.NowNs());
  if (now_ns != 0) decision.decided_at_ns = now_ns;
  PlannedBuckets buckets(plan, local, sharers_);
  for (Charge& charge : plan.selection_.charges) {
    if (!charge.impossible && !charge.algorithm().TakesByTicket()) {
      buckets.Refund(charge, taken_at_ns);
    }
    FillStatus(charge, buckets.Peek(charge), decision.statuses.emplace_back());
  }
  return decision;
}

std::unique_ptr<Plan> Planner::PlanReset(const Request& request,
                                         absl::string_view rule) {
  std::unique_ptr<Plan> plan = PlanSelected(request);
  const auto& charges = plan->selection_.charges;
  const auto is_meant = [rule](const Charge& charge) {
    return rule.empty() || charge.rule->rule.name == rule;
  };
  for (const Charge& charge : charges) {
    if (is_meant(charge)) plan->BucketOf(charge, charge.algorithm());
  }
  for (const Charge& charge : charges) {
    if (is_meant(charge) && charge.rule->rule.penalty.has_value()) {
      plan->BucketOf(PenaltyCharge(charge), Penalty());
    }
  }
  return plan;
}

}  // namespace tollgate
