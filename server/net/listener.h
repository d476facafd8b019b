#ifndef TOLLGATE_SERVER_NET_LISTENER_H_
#define TOLLGATE_SERVER_NET_LISTENER_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/base/clock.h"
#include "server/net/connection_guard.h"
#include "server/net/peer_ledger.h"

namespace tollgate::net {

struct ListenerOptions {
  // Where to listen, HOST:PORT or [IPV6]:PORT. Port 0 takes a free one.
  std::string listen;
  // Connections at a time, of all peers and of one address (for IPv6, one /64
  // network); further ones are reset at once. 0 is any number. Each takes two
  // descriptors, so where the process may have fewer, that is the limit.
  int max_connections = 10'000;
  int max_connections_per_address = 5'000;
  GuardLimits guard;
};

enum class RefuseReason { kTotal, kAddress, kDescriptors, kFlood };
enum class KillReason { kFlood, kSlowReader };

// Told what becomes of connections, under no lock: OnRefused on the thread that
// accepts, OnKilled on the one that watches, OnConnections on both. `peer` is
// such as ipv4:192.0.2.1:80.
class ConnectionObserver {
 public:
  virtual ~ConnectionObserver() = default;
  // One more (+1) or one fewer (-1) is open.
  virtual void OnConnections(int change) = 0;
  virtual void OnRefused(RefuseReason reason) = 0;
  virtual void OnKilled(KillReason reason, const std::string& peer) = 0;
};

// Accepts connections and hands them out, and goes on watching them: those
// that do what ConnectionGuard does not allow are shut down, which whoever has
// the descriptor sees as a peer that is gone. Running out of descriptors
// refuses connections and never stops it from accepting later ones. It has a
// thread that accepts and one that watches. Thread-safe, except that Start,
// StopAccepting and the destructor must not overlap.
class Listener {
 public:
  // Takes a connection: a socket that is non-blocking and closed on exec, with
  // Nagle's delay off. It must close it.
  using TakeFn = std::function<void(int fd)>;

  // Stops.
  virtual ~Listener() = default;

  // The port that it is bound to.
  [[nodiscard]] virtual int port() const = 0;

  // Begins to accept; peers may have connected before. Once.
  virtual void Start(TakeFn take) = 0;

  // Closes the port. Connections that are open are still watched. Any number
  // of times.
  virtual void StopAccepting() = 0;

  // Whether a connection to the port is accepted within `timeout`. It is not
  // handed out. True too where this cannot be tried for want of descriptors.
  [[nodiscard]] virtual bool Accepts(absl::Duration timeout) = 0;
};

// Listens, but accepts nothing before Start. UNAVAILABLE, naming the address,
// if it cannot. The references must outlive the listener.
[[nodiscard]] absl::StatusOr<std::unique_ptr<Listener>> MakeListener(
    ListenerOptions options, const PeerLedger& ledger,
    const Clock& steady_clock, ConnectionObserver& observer);

}  // namespace tollgate::net

#endif  // TOLLGATE_SERVER_NET_LISTENER_H_
