#ifndef TOLLGATE_CLIENT_GRPC_TRANSPORT_H_
#define TOLLGATE_CLIENT_GRPC_TRANSPORT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "client/batch_transport.h"
#include "client/options.h"
#include "client/policy.h"

namespace tollgate::client {

struct GrpcTransportOptions {
  // As in ClientOptions.
  std::string target;
  LoadBalancing load_balancing = LoadBalancing::kPickFirst;
  std::optional<TlsOptions> tls;

  // Between two attempts to connect, at first and at most; gRPC spreads each by
  // a fifth. An attempt itself may take as long, and at least
  // `connect_timeout`. Milliseconds precision; short, so that 1.2 x the longest
  // pause and a probe's pause are below the 2 s in which a service that is back
  // is used.
  absl::Duration min_reconnect_pause = absl::Milliseconds(100);
  absl::Duration max_reconnect_pause = absl::Milliseconds(750);
  absl::Duration connect_timeout = absl::Milliseconds(250);

  // A connection that does not answer a ping within the timeout is closed, so
  // that one whose other end vanished is noticed without traffic. The interval
  // must not be below what the service permits (10 s).
  absl::Duration keepalive_interval = absl::Seconds(10);
  absl::Duration keepalive_timeout = absl::Seconds(2);

  // Who hears of the policy that the service pushes, of these domains (empty:
  // all); must outlive the transport. Null: nobody asks for it.
  PolicyHandler* policy_handler = nullptr;
  std::vector<std::string> policy_domains;
  uint64_t seed = 0;  // of the pauses between its streams
};

// One connection to the service, opened at once, and one thread that carries
// answers back and lets reconnects progress while nobody asks.
std::unique_ptr<BatchTransport> MakeGrpcTransport(
    const GrpcTransportOptions& options);

}  // namespace tollgate::client

#endif  // TOLLGATE_CLIENT_GRPC_TRANSPORT_H_
