#ifndef TOLLGATE_SERVER_RPC_HEALTH_PORT_H_
#define TOLLGATE_SERVER_RPC_HEALTH_PORT_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "server/base/clock.h"
#include "server/net/listener.h"
#include "server/rpc/health.h"

namespace tollgate {

// A port in plain text with grpc.health.v1.Health and nothing else, for probes
// that cannot do TLS. A Check says SERVING only if the main port accepts a
// connection within a second, which a probe of this port alone would not see;
// a Watch tells of the health alone. One thread answers. Thread-compatible.
class HealthPort {
 public:
  // Stops at once.
  virtual ~HealthPort() = default;

  [[nodiscard]] virtual int port() const = 0;

  // Tells those who watch that the health has changed. Once.
  virtual void Announce() = 0;
};

// Serves at `listen`, HOST:PORT. UNAVAILABLE if it cannot. The references must
// outlive it.
[[nodiscard]] absl::StatusOr<std::unique_ptr<HealthPort>> StartHealthPort(
    const std::string& listen, const Health& health, net::Listener& main_port,
    const Clock& steady_clock);

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_RPC_HEALTH_PORT_H_
