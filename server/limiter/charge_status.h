#ifndef TOLLGATE_SERVER_LIMITER_CHARGE_STATUS_H_
#define TOLLGATE_SERVER_LIMITER_CHARGE_STATUS_H_

#include <algorithm>

#include "server/limiter/algorithm.h"
#include "server/limiter/charge.h"
#include "server/limiter/decision.h"

// What a bucket said, as the status of an answer. Thread-safe.
namespace tollgate {

inline void FillStatus(const Charge& charge, const Verdict& verdict,
                       RuleStatus& status) {
  status.rule = charge.rule->id;
  status.limit = charge.limit->limit;
  status.shadow = charge.shadow;
  status.overflow = charge.overflow;
  status.outage = charge.outage;
  status.descriptor = charge.descriptor;
  status.remaining = verdict.remaining;
  status.reset_after_ns = verdict.reset_after_ns;
  status.retry_after_ns = 0;
  status.delay_ns = 0;
  if (charge.impossible) {
    status.outcome = Outcome::kImpossible;
  } else if (verdict.allowed) {
    status.outcome = Outcome::kAllowed;
    status.delay_ns = verdict.delay_ns;
  } else {
    status.outcome = Outcome::kRefused;
    status.retry_after_ns = verdict.retry_after_ns;
  }
}

// Notes what an allowed request took and can give back by name.
inline void AddTaken(const Charge& charge, Decision& decision) {
  if (!charge.taken) return;
  if (charge.algorithm().TakesByTicket()) {
    decision.slots.push_back({charge.bucket(), charge.ask.ticket});
  } else if (charge.overflow) {
    decision.overflow.push_back(charge.bucket());
  }
}

// Lets what an enforced rule says count for the whole request.
inline void Count(const RuleStatus& status, Decision& decision) {
  if (status.shadow || status.outcome == Outcome::kAllowed) return;
  if (status.outcome == Outcome::kImpossible) {
    decision.outcome = Outcome::kImpossible;
    decision.retry_after_ns = 0;
  } else if (decision.outcome != Outcome::kImpossible) {
    decision.outcome = Outcome::kRefused;
    decision.retry_after_ns =
        std::max(decision.retry_after_ns, status.retry_after_ns);
  }
}

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_LIMITER_CHARGE_STATUS_H_
