#ifndef TOLLGATE_SERVER_REDIS_DISPATCHER_H_
#define TOLLGATE_SERVER_REDIS_DISPATCHER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/base/snapshot.h"
#include "server/redis/cluster_replies.h"
#include "server/redis/job.h"
#include "server/redis/node.h"
#include "server/redis/run_error.h"

namespace tollgate::redis {

// What the runner's thread lets others know. Thread-safe.
struct Bulletin {
  std::atomic<size_t> pending{0};  // runs taken that are not done
  std::atomic<bool> is_ready{false};
  // Why no server can be used, so that a run need not even be handed over;
  // empty while there is hope.
  Snapshot<std::string> hopeless{std::make_shared<const std::string>()};
  std::atomic<Topology> topology{Topology::kDetect};  // as far as it is known
};

// Calls `done` of a run that is not, or no longer, under way, and counts it.
// Thread-safe.
void TurnAway(ScriptRun run, RunError error, absl::string_view why,
              int64_t took_ns, RunCounters& counters);

// Sends each run to the node that has its keys, and again where that node says
// so: follows a cluster's slots as they move, or the one primary of several
// servers. Of the runner's thread.
class Dispatcher final : private Node::Events {
 public:
  // Both must outlive it.
  Dispatcher(NodeContext& context, Bulletin& bulletin);

  void Dispatch(JobPtr job);
  // Does what it is time for; returns when to do so again.
  int64_t Step(int64_t now_ns);
  // Writes what Dispatch and Step left to write.
  void Flush();
  void OnResolved(const Endpoint& endpoint, std::vector<Address> addresses);
  // Ends everything: every job is done when it returns.
  void Close();

 private:
  absl::Status OnGreeted(Node& node, const Greeting& greeting) override;
  void OnAnswer(Node& node, JobPtr job, Answer answer) override;
  void OnTimeout(JobPtr job) override;
  void OnLost(JobPtr job, const absl::Status& why) override;
  void OnSlots(Node& node, Answer answer) override;
  void OnReplica(Node& node) override;
  void OnChange() override { is_changed_ = true; }

  // Where the job goes next; null if nobody is known.
  Node* Target(const Job& job);
  Node* Primary();
  // The node at that address, made if need be; null if there are too many.
  Node* NodeAt(const Endpoint& endpoint);
  void Redirected(JobPtr job, const Redirect& redirect,
                  const std::string& message);
  void TakeError(Node& node, JobPtr job, const std::string& message);
  // Again after a moment, if there is time left.
  void TryLater(JobPtr job, RunError error, const std::string& message);
  void Wait(JobPtr job, int64_t until_ns);
  void Finish(JobPtr job, RunError error, absl::string_view why);
  void ApplySlots(const Node& node, const Reply& reply);
  void RefreshSoon();
  void Refresh(int64_t now_ns);
  void RemoveUnused(int64_t now_ns);
  void Post();  // to the bulletin
  [[nodiscard]] Topology topology() const { return bulletin_.topology; }
  [[nodiscard]] bool MayWait() const;
  [[nodiscard]] std::string WhyNot(const Node* node) const;

  NodeContext& context_;
  Bulletin& bulletin_;
  std::map<std::string, std::unique_ptr<Node>> nodes_;  // by address
  std::vector<Node*> seeds_;       // never removed; in the order given
  Node* primary_ = nullptr;        // without a cluster: where runs went last
  std::vector<Node*> owners_;      // of each slot; null if nobody serves it
  std::vector<JobPtr> waiting_;    // for a connection, or for not_before_ns
  int64_t next_wait_ns_ = kNever;  // none of them is due earlier
  bool is_changed_ = true;         // what nodes are up, or where slots are
  int64_t refreshed_at_ns_ = 0;
  int64_t refresh_at_ns_ = 0;
  std::string last_refreshed_;  // the node that was asked
};

}  // namespace tollgate::redis

#endif  // TOLLGATE_SERVER_REDIS_DISPATCHER_H_
