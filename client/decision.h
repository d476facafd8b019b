#ifndef TOLLGATE_CLIENT_DECISION_H_
#define TOLLGATE_CLIENT_DECISION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace tollgate::client {

enum class Outcome {
  kAllowed,
  kRefused,     // over a limit: try again after retry_after
  kImpossible,  // waiting will never help
};

// Who decided.
enum class Source {
  kService,       // the rate limiter service
  kRefusalCache,  // a refusal of the service that is still fresh
  kBackstop,      // the limiter inside this client; the service did not answer
  kOutagePolicy,  // ClientOptions::outage_policy or a rule's on_outage alone
};

// "allowed", "refused", "impossible".
[[nodiscard]] absl::string_view OutcomeName(Outcome outcome);
// "service", "refusal_cache", "backstop", "outage_policy".
[[nodiscard]] absl::string_view SourceName(Source source);

// What one rule says of the request.
struct RuleStatus {
  std::string rule;  // its name, unique in the domain
  // Its limit: tokens refilled each period, and the bucket's capacity.
  uint64_t tokens = 0;
  absl::Duration period;
  uint64_t burst = 0;
  uint64_t remaining = 0;      // whole tokens left, after this decision
  absl::Duration reset_after;  // until the bucket is full
  absl::Duration retry_after;  // until this rule would allow the same cost
  Outcome outcome = Outcome::kAllowed;  // what this rule alone would answer
  bool shadow = false;                  // counted and reported, never refuses
  absl::Duration delay;                 // to wait before going ahead
  // An allow-list: it has no limit, and other rules do not apply beside it.
  bool unlimited = false;
  // Of the bucket that keys of the rule share while the service has no room
  // for one of their own.
  bool overflow = false;
  // The service could not reach its buckets: the rule's on_outage said this.
  bool outage = false;
};

// The answer to a Request. There is always one: where the service gives none,
// `source` says who decided instead and `error` says why. A plain value.
struct Decision {
  // Whether the request may go ahead: outcome is kAllowed.
  bool allowed = true;
  Outcome outcome = Outcome::kAllowed;
  // With kRefused: waiting this long succeeds if nobody else takes.
  absl::Duration retry_after;
  // With kRefused, from the service: for so long the same request at the same
  // cost stays refused, unless tokens are given back or rules change. Zero
  // where the service wants to be asked each time.
  absl::Duration stands_for;
  // With kAllowed: wait this long before going ahead. Mostly zero: only rules
  // that shape instead of refusing (leaky_bucket) ask for it.
  absl::Duration delay;
  // With kAllowed, where it holds slots of concurrency rules: what Release
  // takes. Opaque bytes, mostly empty.
  std::string ticket;
  // When the service decided, by its own clock: what Refund takes. InfinitePast
  // where it did not decide.
  absl::Time decided_at = absl::InfinitePast();
  // With kAllowed, where tokens came from a bucket that keys share: what Refund
  // takes, too. Opaque bytes, mostly empty.
  std::string overflow;
  // One for each bucket that applies. From the refusal cache: the rules that
  // refused, at most 8. From this client: those of the rules that the service
  // pushed, with the client's share for the limit; before it pushed any, one
  // that is named "backstop", or none.
  std::vector<RuleStatus> statuses;
  Source source = Source::kService;
  // OK where the service decided. Otherwise why it did not:
  //   DEADLINE_EXCEEDED   no answer within the timeout
  //   UNAVAILABLE         no connection, or the breaker is open
  //   RESOURCE_EXHAUSTED  ClientOptions::max_in_flight calls are out already,
  //                       or the request is too large for the service
  //   INVALID_ARGUMENT    the request itself is wrong; the message names the
  //                       field. A bug of the caller, so watch for it: it is
  //                       allowed unless the outage policy is kRefuse
  //   other codes         as the service or a proxy before it gave them
  absl::Status error;
};

}  // namespace tollgate::client

#endif  // TOLLGATE_CLIENT_DECISION_H_
