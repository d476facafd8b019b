#ifndef TOLLGATE_SERVER_LIMITER_PLANNER_H_
#define TOLLGATE_SERVER_LIMITER_PLANNER_H_

#include <cstdint>
#include <memory>

#include "absl/strings/string_view.h"
#include "server/limiter/decision.h"
#include "server/limiter/limiter.h"
#include "server/limiter/plan.h"
#include "server/limiter/request.h"

namespace tollgate {

// What a limiter offers to a store that keeps buckets elsewhere: it says which
// buckets a request concerns and what is wanted of them, and once the store has
// asked them, it decides by the same code, and counts in the same places, as if
// they were its own. In between, any time may pass. Thread-safe; a plan belongs
// to one thread at a time.
class Planner {
 public:
  // `limiter` must outlive it. `sharers`, 1 or more: how many processes share
  // each limit while the store is out of reach.
  Planner(Limiter& limiter, uint32_t sharers)
      : limiter_(limiter), sharers_(sharers) {}

  // For Limiter::Decide, Refund and Reset. `request`, with all that it views,
  // must outlive the plan.
  [[nodiscard]] std::unique_ptr<Plan> PlanDecision(const Request& request);
  [[nodiscard]] std::unique_ptr<Plan> PlanRefund(const Request& request);
  [[nodiscard]] std::unique_ptr<Plan> PlanReset(const Request& request,
                                                absl::string_view rule);

  // Decides a plan of PlanDecision, as of the store's time, or the limiter's if
  // the store never said it (0). Once; the decision lives as long as the plan.
  Decision& Conclude(Plan& plan, int64_t now_ns);
  // Tells the buckets of a plan of PlanRefund as they are once what was taken
  // at `taken_at_ns` is back. Once, as Conclude.
  const Decision& ConcludeRefund(Plan& plan, int64_t taken_at_ns,
                                 int64_t now_ns);

 private:
  std::unique_ptr<Plan> PlanSelected(const Request& request);

  Limiter& limiter_;
  const uint32_t sharers_;
};

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_LIMITER_PLANNER_H_
