#ifndef TOLLGATE_SERVER_HTTP_HTTP_SERVER_H_
#define TOLLGATE_SERVER_HTTP_HTTP_SERVER_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/http/http_route.h"

namespace tollgate {

// Whether the process should be sent work, and why, in a line for people.
struct Readiness {
  bool ready = false;
  std::string reason;  // such as "ready: 12 rules" or "draining"
};

struct HttpServerOptions {
  // Where to listen, HOST:PORT, [IPV6]:PORT. Port 0 takes a free one.
  std::string listen = "127.0.0.1:8080";
  // Threads that answer. A connection holds none while it waits for its peer,
  // so few are enough: 1 to 64; 2 leaves one for probes while Prometheus reads.
  int threads = 2;
  // Connections at a time, 64 KiB of memory each; more are closed at once. 2
  // for each thread, or more.
  int max_connections = 512;
  // How long a peer may be silent. Whole seconds, 1 or more.
  absl::Duration timeout = absl::Seconds(10);
  // The largest body; larger ones are 413.
  size_t max_body_bytes = size_t{64} * 1024;
  // The text of /metrics, and the state that /readyz tells. Called on the
  // server's threads, also at the same time. Required.
  std::function<std::string()> metrics;
  std::function<Readiness()> readiness;
  // What else is served.
  std::vector<HttpRoute> routes;
};

// Serves `routes`, and GET and HEAD of:
//   /metrics  200, Prometheus text format 0.0.4
//   /healthz  200 as long as the process answers
//   /readyz   200 or 503, and why
// Anything else is 404 and says what there is; other methods are 405. Stops
// when destroyed; an answer that its peer is slow to read is cut off then.
// Thread-safe.
class HttpServer {
 public:
  virtual ~HttpServer() = default;
  // The port that it listens on.
  [[nodiscard]] virtual int port() const = 0;
};

// Listens and serves. UNAVAILABLE if it cannot listen there.
[[nodiscard]] absl::StatusOr<std::unique_ptr<HttpServer>> MakeHttpServer(
    HttpServerOptions options);

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_HTTP_HTTP_SERVER_H_
