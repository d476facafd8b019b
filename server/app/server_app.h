#ifndef TOLLGATE_SERVER_APP_SERVER_APP_H_
#define TOLLGATE_SERVER_APP_SERVER_APP_H_

#include <memory>

#include "absl/status/statusor.h"
#include "server/app/server_options.h"

namespace tollgate {

// The whole service, running. Thread-compatible.
class ServerApp {
 public:
  // Drains without grace if nobody did.
  virtual ~ServerApp() = default;

  // The ports that are listened on; HTTP is 0 if it is off.
  [[nodiscard]] virtual int grpc_port() const = 0;
  [[nodiscard]] virtual int http_port() const = 0;
  // That of --health-listen; 0 without.
  [[nodiscard]] virtual int health_port() const = 0;

  // Loads the rules again, soon and on another thread, changed or not. If they
  // are bad, those in force stay.
  virtual void ReloadRules() = 0;

  // Health says NOT_SERVING and /readyz 503; requests are still answered.
  virtual void AnnounceShutdown() = 0;

  // Announces it, and returns when what is in flight is finished, at most
  // after the grace of the options, and the state is saved. HTTP goes on
  // answering.
  virtual void Drain() = 0;
};

// Loads the rules, restores the state and serves; loads the rules again when
// their files change. INVALID_ARGUMENT with one line for each mistake of the
// rules, UNAVAILABLE if it cannot listen, FAILED_PRECONDITION if another
// process uses the state file.
[[nodiscard]] absl::StatusOr<std::unique_ptr<ServerApp>> StartServerApp(
    const ServerOptions& options);

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_APP_SERVER_APP_H_
