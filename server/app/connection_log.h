#ifndef TOLLGATE_SERVER_APP_CONNECTION_LOG_H_
#define TOLLGATE_SERVER_APP_CONNECTION_LOG_H_

#include <cstdint>
#include <string>

#include "server/base/clock.h"
#include "server/metrics/metrics.h"
#include "server/net/listener.h"

namespace tollgate {

// Carries what becomes of connections over to the metrics, and says in the log
// which are refused and cut: a line each, at most once in ten seconds, since
// whoever attacks must not fill the log. For one listener's threads alone, each
// of which calls one of the functions that log.
class ConnectionLog final : public net::ConnectionObserver {
 public:
  // Both must outlive this.
  ConnectionLog(Metrics& metrics, const Clock& steady_clock)
      : metrics_(metrics), clock_(steady_clock) {}

  void OnConnections(int change) override { metrics_.CountConnections(change); }
  void OnRefused(net::RefuseReason reason) override;
  void OnKilled(net::KillReason reason, const std::string& peer) override;

 private:
  // One kind of line.
  struct Pace {
    int64_t next_ns = 0;
    uint64_t unsaid = 0;
  };

  // Whether to say it now.
  bool IsDue(Pace& pace);

  Metrics& metrics_;
  const Clock& clock_;
  Pace refused_;
  Pace killed_;
};

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_APP_CONNECTION_LOG_H_
