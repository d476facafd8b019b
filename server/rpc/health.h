#ifndef TOLLGATE_SERVER_RPC_HEALTH_H_
#define TOLLGATE_SERVER_RPC_HEALTH_H_

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <unordered_set>

#include "grpc/health/v1/health.grpc.pb.h"
#include "grpcpp/grpcpp.h"
#include "server/net/peer_ledger.h"

namespace tollgate {

// What the health service says, of the server ("") and of the rate limiter: it
// serves while it is ready and is not about to stop. Thread-safe.
class Health {
 public:
  using Status = grpc::health::v1::HealthCheckResponse::ServingStatus;

  // Returns whether that is news.
  bool SetReady(bool ready) { return ready_.exchange(ready) != ready; }
  // For good: a server that is about to stop does not come back.
  void StopServing() { stopping_ = true; }
  [[nodiscard]] bool stopping() const { return stopping_; }
  [[nodiscard]] bool serving() const { return ready_ && !stopping_; }
  // SERVICE_UNKNOWN for a service that is not here.
  [[nodiscard]] Status StatusOf(const std::string& service) const;

 private:
  // Read by all queues.
  std::atomic<bool> ready_{true};
  std::atomic<bool> stopping_{false};  // written once
};

// Answers grpc.health.v1.Health on one completion queue. The library's own
// health service would bring two threads of its callback API, which poll every
// connection and hand what arrives to the queues' threads: that costs a fifth
// more CPU time for each decision. Lives on the queue's thread alone.
// Thread-compatible.
class HealthCalls {
 public:
  using Service = grpc::health::v1::Health::AsyncService;

  // All must outlive the calls, and the queue be drained before this goes.
  // `also`, unless null: what must hold too for a Check to say SERVING. It runs
  // on the queue's thread.
  HealthCalls(Service& service, grpc::ServerCompletionQueue& queue,
              const Health& health, net::PeerLedger::Page& peers,
              std::function<bool()> also = nullptr);
  ~HealthCalls();
  HealthCalls(const HealthCalls&) = delete;
  HealthCalls& operator=(const HealthCalls&) = delete;

  // Begins to take calls.
  void Post();
  // Tells those who watch that the status has changed.
  void Announce();
  // After this nothing is posted or sent.
  void Stop() { stopped_ = true; }

 private:
  class CheckCall;
  class WatchCall;

  void PostWatch();

  Service& service_;
  grpc::ServerCompletionQueue& queue_;
  const Health& health_;
  net::PeerLedger::Page& peers_;
  const std::function<bool()> also_;
  bool stopped_ = false;
  std::unique_ptr<CheckCall> check_;
  std::unordered_set<WatchCall*> watching_;  // owned by the queue
};

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_RPC_HEALTH_H_
