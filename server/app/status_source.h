#ifndef TOLLGATE_SERVER_APP_STATUS_SOURCE_H_
#define TOLLGATE_SERVER_APP_STATUS_SOURCE_H_

#include <cstdint>
#include <functional>
#include <string>

#include "server/app/rule_loader.h"
#include "server/base/clock.h"
#include "server/http/http_server.h"
#include "server/limiter/limiter.h"
#include "server/metrics/metrics.h"
#include "server/status/service_status.h"

namespace tollgate {

// Gathers what the status page shows from those who know it. Thread-safe.
class StatusSource {
 public:
  struct Options {
    std::string version;
    int64_t max_in_flight = 0;
    int64_t max_connections = 0;
    bool has_state_file = false;
    std::function<Readiness()> readiness;  // required
    // Required; what outage policies decided is filled in.
    std::function<StoreStatus()> store;
  };

  // All references must outlive this. `clock` is the limiter's.
  StatusSource(Options options, Limiter& limiter, const Metrics& metrics,
               const RuleLoader& rules, const Clock& clock)
      : options_(std::move(options)),
        limiter_(limiter),
        metrics_(metrics),
        rules_(rules),
        clock_(clock),
        started_ns_(clock.NowNs()) {}

  // Takes about a microsecond for each rule in force.
  [[nodiscard]] ServiceStatus Read() const;

 private:
  // The rules with the most refusals, at most kMaxShownRules, and how many
  // others there are.
  void ReadRules(const RuleSet& rules, ServiceStatus& out) const;
  void ReadKeys(ServiceStatus& out) const;
  [[nodiscard]] ShownMemory ReadMemory() const;

  const Options options_;
  Limiter& limiter_;
  const Metrics& metrics_;
  const RuleLoader& rules_;
  const Clock& clock_;
  const int64_t started_ns_;
};

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_APP_STATUS_SOURCE_H_
