#ifndef TOLLGATE_SERVER_RPC_WORKER_H_
#define TOLLGATE_SERVER_RPC_WORKER_H_

#include <memory>
#include <thread>

#include "absl/time/time.h"
#include "grpcpp/alarm.h"
#include "grpcpp/grpcpp.h"
#include "server/base/clock.h"
#include "server/base/mutex.h"
#include "server/net/peer_ledger.h"
#include "server/rpc/access.h"
#include "server/rpc/admission.h"
#include "server/rpc/call_context.h"
#include "server/rpc/event.h"
#include "server/rpc/handlers.h"
#include "server/rpc/health.h"
#include "server/rpc/methods.h"
#include "server/rpc/policy_calls.h"
#include "server/rpc/policy_feed.h"
#include "server/rpc/queue_mark.h"

namespace tollgate {

// What all workers share. All of it outlives them.
struct WorkerShared {
  Services& services;
  Admission& admission;
  Admission& admin_admission;
  PolicyFeed& feed;
  const Access* access;  // null: everybody may call everything
  const Clock& steady_clock;
  absl::Duration max_queue_wait;
};

// What becomes of answers that their peers do not take.
enum class Unread { kKeep, kDrop };

// One completion queue and its thread, which alone touches the queue's calls.
// Start, then Stop, from one thread; Announce from any between the two.
class Worker {
 public:
  Worker(const WorkerShared& shared,
         std::unique_ptr<grpc::ServerCompletionQueue> queue, Handlers handlers,
         net::PeerLedger::Page& peers);

  void Start() {
    thread_ = std::thread([this] { Run(); });
  }

  // Tells those who watch that the health has changed or that there is news of
  // the policy. With kDrop, answers that have waited for their peers for
  // kUnreadPatience are given up.
  void Announce(Unread unread);

  // After the server's Shutdown. Returns when the queue is empty.
  void Stop();

 private:
  class Announcement final : public Event {
   public:
    explicit Announcement(Worker& worker) : worker_(worker) {}
    void On(bool ok) override;

   private:
    Worker& worker_;
  };

  class Quit final : public Event {
   public:
    explicit Quit(Worker& worker) : worker_(worker) {}
    void On(bool ok) override;

   private:
    Worker& worker_;
  };

  void Run();

  const Clock& steady_clock_;
  const std::unique_ptr<grpc::ServerCompletionQueue> queue_;
  Handlers handlers_;
  QueueMark mark_;
  AllCallPools pools_;
  HealthCalls health_;
  PolicyCalls policies_;
  Announcement announce_;
  Mutex announce_mutex_;
  bool announcing_ ABSL_GUARDED_BY(announce_mutex_) = false;
  bool drop_unread_ ABSL_GUARDED_BY(announce_mutex_) = false;
  grpc::Alarm announce_now_;  // set while `announcing_`
  Quit quit_;
  bool quitting_ = false;  // told to, and the queue is not shut yet
  std::thread thread_;
};

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_RPC_WORKER_H_
