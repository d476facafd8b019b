#ifndef TOLLGATE_SERVER_RPC_RPC_SERVER_H_
#define TOLLGATE_SERVER_RPC_RPC_SERVER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/base/clock.h"
#include "server/envoy/envoy_answer.h"
#include "server/limiter/bucket_store.h"
#include "server/limiter/limiter.h"
#include "server/limiter/rule_set.h"
#include "server/net/listener.h"
#include "server/rpc/access.h"
#include "server/rpc/rpc_observer.h"

namespace tollgate {

// What Admin.GetRules shows: the rules and their hash, of the same moment.
struct RulesInForce {
  std::string hash;
  std::shared_ptr<const RuleSet> rules;  // never null
};
using RulesInForceFn = std::function<RulesInForce()>;

// Paths of PEM files. With `client_ca`, clients must show a certificate that it
// signed (mTLS).
struct TlsFiles {
  std::string cert;
  std::string key;
  std::string client_ca;  // may be empty
};

struct RpcServerOptions {
  // Where to listen, HOST:PORT or [IPV6]:PORT. Port 0 takes a free one.
  std::string listen = "127.0.0.1:8081";
  // Files that are good at the start, and may be replaced while it serves: each
  // new connection has those of the last second. None: plain text.
  std::optional<TlsFiles> tls;
  // Who may call what; identities need `tls` with a client_ca. Health and
  // reflection are for all.
  AccessOptions access;
  // Where probes find grpc.health.v1.Health in plain text, as `listen`; empty:
  // nowhere but there.
  std::string health_listen;
  // Completion queues, with one thread each. 0 is as many as cores, at least
  // 2. Fewer than 2 lets one peer that resets its streams starve the others;
  // more than cores only adds switches. 0 to 1024.
  int threads = 0;
  // Calls being answered at once; those above it are turned away with
  // UNAVAILABLE. 1 or more. Raise it only if many slow readers are normal. Once
  // there are so many, answers that nobody has taken for kUnreadPatience are
  // dropped.
  int64_t max_in_flight = 4096;
  // While calls have waited longer than this for a thread, and for a tenth of a
  // second none has waited less, those that ask are turned away with
  // UNAVAILABLE. What gives back, Admin, health and WatchPolicy are not. 1 ms
  // or more; zero is off.
  absl::Duration max_queue_wait = absl::ZeroDuration();
  // Bytes of one request message; larger ones fail with RESOURCE_EXHAUSTED.
  // This is what bounds the work of one call. 1 KiB or more.
  int max_message_bytes = 64 * 1024;
  // Called on the threads that answer, so it must be fast and thread-safe, and
  // live as long as the server. Null: the limiter's rules, without a hash.
  RulesInForceFn rules_in_force;
  // Streams of WatchPolicy, which is how clients are counted; further ones fail
  // with RESOURCE_EXHAUSTED. About 15 KiB each. 1 or more.
  size_t max_watchers = 10'000;
  // Whether it wants to be sent calls, which health tells. Called from time to
  // time; it must be thread-safe and live as long as the server. Null: always.
  std::function<bool()> is_ready;
  // How often it looks for other rules or another number of clients to tell
  // them of, and whether it is ready. 1 ms or more.
  absl::Duration policy_interval = absl::Seconds(1);
  // What answers to gateways hold.
  EnvoyAnswerOptions gateway;
  // Connections at a time; see net::ListenerOptions.
  int max_connections = 10'000;
  int max_connections_per_address = 5'000;
  // What a connection may do before it is cut; see net::GuardLimits. Bytes are
  // accounted for by each call that begins: those of its message, and
  // kCallBytes. Off unless given.
  net::GuardLimits guard;
  // Told of connections; it must live as long as the server. Null: nobody.
  net::ConnectionObserver* connections = nullptr;
  // How old a connection gets before its client is told to make another, and
  // how long its calls may take then, so that clients come to servers that are
  // new. 1 s or more, and 0 or more.
  absl::Duration max_connection_age = absl::Minutes(5);
  absl::Duration connection_age_grace = absl::Seconds(10);
};

// What a call may send beside its message: headers of 8 KiB, frames and what
// keeps the connection alive.
inline constexpr uint64_t kCallBytes = 16 * 1024;

// How long an answer may wait for its peer where its place is wanted.
inline constexpr absl::Duration kUnreadPatience = absl::Seconds(1);
// Calls of Admin at a time, which do not count as calls in flight.
inline constexpr int64_t kMaxAdminCalls = 64;

// Serves tollgate.v1.RateLimiter and Admin, Envoy's RateLimitService,
// grpc.health.v1.Health (for "", for each by its name, and for "ratelimit",
// which gateways know) and server reflection. Thread-compatible.
class RpcServer {
 public:
  // Drains without grace if nobody did.
  virtual ~RpcServer() = default;

  // Listens and serves; the port that it bound. Once. UNAVAILABLE if it cannot
  // listen there.
  virtual absl::StatusOr<int> Start() = 0;

  // The port of `health_listen` once started, or 0 without.
  [[nodiscard]] virtual int health_port() const = 0;

  // Health becomes NOT_SERVING; calls are still answered.
  virtual void AnnounceShutdown() = 0;

  // Announces it, closes the port, tells clients to go (GOAWAY), takes no more
  // calls (UNAVAILABLE), and returns when those in flight are finished, which
  // are cut off after `grace`. Any number of times.
  virtual void Drain(absl::Duration grace) = 0;
};

// `store` has the buckets under the rules of `limiter`. `limiter_clock` is the
// one that the limiter reads, `steady_clock` the one on which gRPC states
// deadlines (SteadyClock). All references must outlive the server.
[[nodiscard]] std::unique_ptr<RpcServer> MakeRpcServer(
    RpcServerOptions options, Limiter& limiter, BucketStore& store,
    const Clock& limiter_clock, const Clock& steady_clock,
    RpcObserver& observer);

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_RPC_RPC_SERVER_H_
