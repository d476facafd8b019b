#ifndef TOLLGATE_SERVER_RPC_NOBODY_WATCHES_H_
#define TOLLGATE_SERVER_RPC_NOBODY_WATCHES_H_

#include <string>

#include "server/net/listener.h"

namespace tollgate {

// Where nobody wants to be told of connections. Thread-safe.
class NobodyWatches final : public net::ConnectionObserver {
 public:
  void OnConnections(int) override {}
  void OnRefused(net::RefuseReason) override {}
  void OnKilled(net::KillReason, const std::string&) override {}
};

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_RPC_NOBODY_WATCHES_H_
