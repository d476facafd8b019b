#ifndef TOLLGATE_SERVER_HEADERS_QUOTA_H_
#define TOLLGATE_SERVER_HEADERS_QUOTA_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "server/limiter/decision.h"

namespace tollgate {

// What a caller of an HTTP service is told of one rule's bucket: the limit, and
// how this request found it. A view of the name, else a plain value, which the
// service's decisions and those of the client library both turn into.
struct Quota {
  absl::string_view name;  // of the rule
  // As in Limit: tokens refilled each period, and the most there can be.
  uint64_t tokens = 1;  // 1 or more
  int64_t period_ns = 1'000'000'000;
  uint64_t burst = 1;
  uint64_t remaining = 0;      // whole tokens, after the decision
  int64_t reset_after_ns = 0;  // until the bucket is full
  int64_t retry_after_ns = 0;  // kRefused: until the same would be allowed
  Outcome outcome = Outcome::kAllowed;  // what this rule says
};

// The enforced limits that the decision looked at, in its order. Shadow rules
// and allow-lists are nobody's quota. The views live as long as the limiter.
[[nodiscard]] std::vector<Quota> QuotasOf(const Decision& decision);

// The quota of one bucket, whether it is enforced or not; not of an allow-list,
// which has no limit.
[[nodiscard]] Quota QuotaOf(const RuleStatus& status);

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_HEADERS_QUOTA_H_
