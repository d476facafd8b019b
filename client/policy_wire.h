#ifndef TOLLGATE_CLIENT_POLICY_WIRE_H_
#define TOLLGATE_CLIENT_POLICY_WIRE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/policy.h"
#include "tollgate/v1/rate_limiter.pb.h"

namespace tollgate::client {

// The rule as the core enforces it in an outage: one that allows is off, one
// that refuses has OutageRefusal() for its algorithm, and one whose algorithm
// this client does not know is a token bucket. INVALID_ARGUMENT if a limit is
// none; the rest is RuleSet::Create's to check.
[[nodiscard]] absl::StatusOr<Rule> ToRule(const v1::PolicyRule& message);
// The same of a rule of an Envoy-format file; of a unit that this client does
// not know it counts seconds where it says when to try again.
[[nodiscard]] absl::StatusOr<Rule> ToRule(const v1::PolicyNode& message);

// Puts the messages of one stream together. Thread-compatible.
class PolicyReader {
 public:
  // What the message completes, or nothing while parts are missing.
  // INVALID_ARGUMENT for a rule that is none or parts out of order; the reader
  // is of no use then.
  absl::StatusOr<std::optional<PolicyUpdate>> Read(const v1::Policy& message);

 private:
  template <typename Messages>
  absl::Status Add(const Messages& messages);

  std::vector<Rule> rules_;  // of the parts so far
  uint32_t next_part_ = 0;
};

}  // namespace tollgate::client

#endif  // TOLLGATE_CLIENT_POLICY_WIRE_H_
