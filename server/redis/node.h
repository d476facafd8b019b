#ifndef TOLLGATE_SERVER_REDIS_NODE_H_
#define TOLLGATE_SERVER_REDIS_NODE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "server/base/clock.h"
#include "server/redis/connection.h"
#include "server/redis/io_loop.h"
#include "server/redis/job.h"
#include "server/redis/redis_options.h"
#include "server/redis/resolver.h"
#include "server/redis/run_counters.h"

namespace tollgate::redis {

// What the nodes of one runner share. All must outlive them.
struct NodeContext {
  IoLoop& loop;
  const Clock& clock;
  const RedisOptions& options;
  const std::vector<std::string>& scripts;
  RunCounters& counters;
  Resolver& resolver;
  std::minstd_rand random;  // spreads the attempts of many processes
};

// One server and the few connections to it. While it does not answer, one
// connection at a time is tried, and that is the probe: once it is greeted, the
// node is up again. Of the runner's thread.
class Node final : private Connection::Events {
 public:
  // Told what happens; must not destroy the node in return.
  class Events {
   public:
    virtual ~Events() = default;
    // A connection was made; an error closes it, as if Redis had said so.
    virtual absl::Status OnGreeted(Node& node, const Greeting& greeting) = 0;
    virtual void OnAnswer(Node& node, JobPtr job, Answer answer) = 0;
    virtual void OnTimeout(JobPtr job) = 0;
    virtual void OnLost(JobPtr job, const absl::Status& why) = 0;
    virtual void OnSlots(Node& node, Answer answer) = 0;
    // It says that it is a replica (or, often, still is one).
    virtual void OnReplica(Node& node) = 0;
    // It went up or down, or failed once more.
    virtual void OnChange() = 0;
  };

  Node(Endpoint endpoint, NodeContext& context, Events& events)
      : endpoint_(std::move(endpoint)), context_(context), events_(events) {}

  [[nodiscard]] const Endpoint& endpoint() const { return endpoint_; }
  [[nodiscard]] bool is_up() const;
  // Not up, but nothing has failed either: worth to wait for.
  [[nodiscard]] bool is_hopeful() const { return !is_up() && failures_ == 0; }
  // Why it is not up.
  [[nodiscard]] const absl::Status& failure() const { return failure_; }
  [[nodiscard]] size_t owed() const;
  [[nodiscard]] int64_t last_used_ns() const { return last_used_ns_; }

  // Whether runs are expected: then it gets all of its connections, else one.
  [[nodiscard]] bool is_wanted() const { return is_wanted_; }
  void SetWanted(bool wanted) { is_wanted_ = wanted; }

  // False, and the job stays, if no connection can take more.
  bool Send(JobPtr& job, Connection::Form form);
  void AskSlots();
  void Flush();
  // Opens, ends and removes connections as it is time to; returns when to do so
  // again. Not to be called by a handler of sockets.
  int64_t Step(int64_t now_ns);
  // Ends all connections.
  void Close(const absl::Status& why);
  // That, and counts as a failure.
  void Drop(const absl::Status& why);
  // What the resolver found; nothing if there is no such name.
  void OnResolved(std::vector<Address> addresses);

 private:
  absl::Status OnGreeted(Connection& connection) override;
  void OnAnswer(JobPtr job, Answer answer) override;
  void OnTimeout(JobPtr job) override;
  void OnSlots(Answer answer) override;
  void OnRole(Connection& connection, bool is_primary) override;
  void OnLost(JobPtr job, const absl::Status& why) override;
  void OnClosed(Connection& connection, const absl::Status& why) override;

  [[nodiscard]] size_t Wanted() const;  // connections
  void OpenMore(int64_t now_ns);
  void Open();
  void Fail(const absl::Status& why);
  int64_t BackoffNs();

  const Endpoint endpoint_;
  NodeContext& context_;
  Events& events_;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::vector<Address> addresses_;  // to try, from address_ on
  size_t address_ = 0;
  bool is_resolving_ = false;
  bool is_wanted_ = true;
  bool is_dropping_ = false;  // connections are ended for a reason known
  bool was_up_ = false;       // as last logged
  int failures_ = 0;          // since a connection lasted
  absl::Status failure_ = absl::UnavailableError("not connected yet");
  int64_t retry_at_ns_ = 0;
  int64_t last_used_ns_ = 0;
};

}  // namespace tollgate::redis

#endif  // TOLLGATE_SERVER_REDIS_NODE_H_
