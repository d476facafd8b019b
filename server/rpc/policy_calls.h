#ifndef TOLLGATE_SERVER_RPC_POLICY_CALLS_H_
#define TOLLGATE_SERVER_RPC_POLICY_CALLS_H_

#include <cstddef>
#include <unordered_set>

#include "grpcpp/grpcpp.h"
#include "server/net/peer_ledger.h"
#include "server/rpc/access.h"
#include "server/rpc/health.h"
#include "server/rpc/policy_feed.h"
#include "server/rpc/services.h"

namespace tollgate {

// The rules that one stream may get, as they are written.
inline constexpr size_t kMaxPolicyBytes = size_t{4} * 1024 * 1024;
inline constexpr int kMaxPolicyDomains = 1000;

// Answers RateLimiter.WatchPolicy on one completion queue. A stream has at most
// one message under way and none that waits: whoever reads slowly gets the
// newest when it comes to it. Lives on the queue's thread alone.
// Thread-compatible.
class PolicyCalls {
 public:
  // All must outlive the calls, and the queue be drained before this goes.
  PolicyCalls(RateLimiterService& service, grpc::ServerCompletionQueue& queue,
              const Health& health, PolicyFeed& feed,
              net::PeerLedger::Page& peers, const Access* access)
      : service_(service),
        queue_(queue),
        health_(health),
        feed_(feed),
        peers_(peers),
        access_(access) {}
  PolicyCalls(const PolicyCalls&) = delete;
  PolicyCalls& operator=(const PolicyCalls&) = delete;

  // Begins to take calls.
  void Post();
  // Tells those who watch what is new, or that the server is about to stop.
  void Announce();
  // After this nothing is posted or sent.
  void Stop() { stopped_ = true; }

 private:
  class WatchCall;

  RateLimiterService& service_;
  grpc::ServerCompletionQueue& queue_;
  const Health& health_;
  PolicyFeed& feed_;
  net::PeerLedger::Page& peers_;
  const Access* const access_;  // null: everybody may watch
  bool stopped_ = false;
  std::unordered_set<WatchCall*> watching_;  // owned by the queue
};

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_RPC_POLICY_CALLS_H_
