#ifndef TOLLGATE_SERVER_APP_RULE_LOADER_H_
#define TOLLGATE_SERVER_APP_RULE_LOADER_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "server/base/clock.h"
#include "server/base/mutex.h"
#include "server/limiter/limiter.h"
#include "server/limiter/rule.h"
#include "server/metrics/metrics.h"
#include "server/rpc/rpc_server.h"
#include "server/rules/rule_file.h"

namespace tollgate {

// How the rules were last loaded, and what is in force since. A plain value.
struct RuleLoad {
  bool ok = false;
  int64_t at_ns = 0;
  std::string failure;  // one line for each mistake; empty if it is ok
  RulesInForce in_force;
};

// Brings loaded rules into force, all of them in one step, or keeps those that
// are; logs, counts and remembers how it went. Thread-safe, except that calls
// of Start and Reload must not overlap.
class RuleLoader {
 public:
  // Whether the store can keep such rules.
  using Check = absl::Status (*)(absl::Span<const Rule> rules);

  // All must outlive the loader. Null `check`: it can.
  RuleLoader(Limiter& limiter, Metrics& metrics, const Clock& wall_clock,
             Check check = nullptr)
      : limiter_(limiter),
        metrics_(metrics),
        wall_clock_(wall_clock),
        check_(check) {}

  // The first rules. INVALID_ARGUMENT with one line for each mistake.
  absl::Status Start(LoadedRules loaded);

  // Later ones. A mistake is logged once for as long as it stays the same.
  void Reload(LoadedRules loaded);

  [[nodiscard]] RulesInForce in_force() const;

  [[nodiscard]] RuleLoad last_load() const;

  // Such as "3 rules (hash 0123abcd)"; after a failed reload also why, over
  // several lines.
  [[nodiscard]] std::string Describe() const;

 private:
  absl::Status Apply(LoadedRules loaded);
  void Fail(const absl::Status& status);

  Limiter& limiter_;
  Metrics& metrics_;
  const Clock& wall_clock_;
  const Check check_;
  mutable Mutex mutex_;
  RulesInForce in_force_ ABSL_GUARDED_BY(mutex_);
  std::string failure_ ABSL_GUARDED_BY(mutex_);  // of the last reload, or empty
  int64_t loaded_at_ns_ ABSL_GUARDED_BY(mutex_) = 0;  // good or not
};

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_APP_RULE_LOADER_H_
