#ifndef TOLLGATE_CLIENT_POLICY_H_
#define TOLLGATE_CLIENT_POLICY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "server/limiter/rule.h"

namespace tollgate::client {

// What the service says that a client enforces in an outage. A plain value.
struct PolicyUpdate {
  // Of the rules in force at the service.
  std::string hash;
  // How many clients share each limit, this one included. 0 counts as 1.
  uint32_t clients = 1;
  // In place of all that were said before; unset: those stay.
  std::optional<std::vector<Rule>> rules;
};

// Hears of the policy, on the transport's thread.
class PolicyHandler {
 public:
  virtual void OnPolicy(PolicyUpdate update) = 0;
  // The stream ended, or could not be opened: what was said before stays until
  // another one says more.
  virtual void OnPolicyLost(const absl::Status& status) = 0;

 protected:
  ~PolicyHandler() = default;
};

}  // namespace tollgate::client

#endif  // TOLLGATE_CLIENT_POLICY_H_
