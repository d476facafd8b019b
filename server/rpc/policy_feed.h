#ifndef TOLLGATE_SERVER_RPC_POLICY_FEED_H_
#define TOLLGATE_SERVER_RPC_POLICY_FEED_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "grpcpp/support/slice.h"
#include "server/base/mutex.h"
#include "server/rpc/rpc_server.h"

namespace tollgate {

// The rules of one moment as clients get them: messages that hold rules alone,
// written once however many clients there are. Immutable.
struct PolicyRules {
  struct Domain {
    std::string name;
    // Each about 64 KiB, or one rule if that is longer.
    std::vector<grpc::Slice> parts;
    size_t bytes = 0;  // of all parts
  };

  uint64_t version = 0;  // 1, 2, 3, ... within one feed
  std::string hash;
  std::vector<Domain> domains;
};

// What the streams of WatchPolicy tell, and how many there are. Thread-safe.
class PolicyFeed {
 public:
  // `observer` must outlive the feed. Call Refresh once before anything else.
  PolicyFeed(RulesInForceFn rules_in_force, size_t max_watchers,
             RpcObserver& observer);

  // Looks for other rules and for another number of watchers; what it finds,
  // or a heartbeat, is news. Takes time in the number of rules if they have
  // changed. Whether there is news. Calls must not overlap.
  bool Refresh(bool heartbeat);

  [[nodiscard]] std::shared_ptr<const PolicyRules> rules() const;

  // Grows with whatever watchers are to be told. Read it before what it is of.
  [[nodiscard]] uint64_t news() const { return news_.load(); }

  // Counts a stream in, unless there are `max_watchers` already; then it must
  // Leave.
  [[nodiscard]] bool Join();
  void Leave();
  [[nodiscard]] size_t watchers() const { return watchers_.load(); }

 private:
  [[nodiscard]] PolicyRules Write(const RulesInForce& in_force) const;

  const RulesInForceFn rules_in_force_;
  const size_t max_watchers_;
  RpcObserver& observer_;
  std::atomic<uint64_t> news_{0};    // written by Refresh, read by all queues
  std::atomic<size_t> watchers_{0};  // of all queues

  // Of Refresh alone: what it saw the last time.
  std::shared_ptr<const RuleSet> seen_rules_;
  size_t seen_watchers_ = 0;

  mutable Mutex mutex_;
  std::shared_ptr<const PolicyRules> rules_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_RPC_POLICY_FEED_H_
