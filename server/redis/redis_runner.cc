#include "server/redis/redis_runner.h"

#include <atomic>
#include <cassert>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "server/base/mutex.h"
#include "server/redis/dispatcher.h"
#include "server/redis/io_loop.h"
#include "server/redis/job.h"
#include "server/redis/key_slot.h"
#include "server/redis/node.h"
#include "server/redis/resolver.h"

namespace tollgate::redis {
namespace {

constexpr int kMaxConnections = 16;

// Hands runs over to a thread that owns all the rest. That thread takes
// whatever came while it was busy, sends it in one go, and waits only if there
// is nothing: so commands share pipelines under load and none waits for
// company.
class RedisRunner final : public ScriptRunner {
 public:
  RedisRunner(const RedisOptions& options, std::vector<std::string> scripts,
              const Clock& clock, RunCounters& counters)
      : options_(options),
        scripts_(std::move(scripts)),
        clock_(clock),
        counters_(counters),
        resolver_([this] { loop_.Ring(); }),
        context_{loop_,
                 clock,
                 options_,
                 scripts_,
                 counters,
                 resolver_,
                 std::minstd_rand(std::random_device()())},
        dispatcher_(context_, bulletin_) {}

  ~RedisRunner() override {
    if (!thread_.joinable()) return;
    stopping_ = true;
    loop_.Ring();
    thread_.join();
  }

  // False if there are no file descriptors left.
  bool Start() {
    if (!loop_.is_usable()) return false;
    thread_ = std::thread([this] { Loop(); });
    return true;
  }

  [[nodiscard]] int PartitionOf(absl::string_view key) const override {
    // While it is not known, what may be of two slots is kept apart.
    return bulletin_.topology == Topology::kSingle ? 0 : KeySlot(key);
  }

  void Run(ScriptRun run) override {
    assert(run.script < scripts_.size());
    const std::string& hopeless = bulletin_.hopeless.Get();
    if (!hopeless.empty()) {
      return TurnAway(std::move(run), RunError::kNotConnected, hopeless, 0,
                      counters_);
    }
    if (++bulletin_.pending > options_.max_pending) {
      --bulletin_.pending;
      return TurnAway(std::move(run), RunError::kQueueFull, "", 0, counters_);
    }
    auto job = std::make_unique<Job>();
    job->run = std::move(run);
    job->taken_at_ns = clock_.NowNs();
    bool is_first = false;
    {
      const MutexLock lock(mutex_);
      is_first = inbox_.empty();
      inbox_.push_back(std::move(job));
    }
    // Who found the inbox empty wakes the thread for all who come after.
    if (is_first) loop_.Ring();
  }

  [[nodiscard]] bool is_ready() const override { return bulletin_.is_ready; }

 private:
  void Loop() {
    while (!stopping_) {
      for (auto& [endpoint, addresses] : resolver_.Take()) {
        dispatcher_.OnResolved(endpoint, std::move(addresses));
      }
      DispatchInbox();
      const int64_t now_ns = clock_.NowNs();
      const int64_t next_ns = dispatcher_.Step(now_ns);
      dispatcher_.Flush();
      loop_.Wait(next_ns - now_ns);
    }
    DispatchInbox();
    dispatcher_.Close();
  }

  void DispatchInbox() {
    {
      const MutexLock lock(mutex_);
      taken_.swap(inbox_);
    }
    for (JobPtr& job : taken_) dispatcher_.Dispatch(std::move(job));
    taken_.clear();
  }

  const RedisOptions options_;
  const std::vector<std::string> scripts_;
  const Clock& clock_;
  RunCounters& counters_;
  IoLoop loop_;
  Resolver resolver_;
  Bulletin bulletin_;
  NodeContext context_;        // of the thread
  Dispatcher dispatcher_;      // of the thread
  std::vector<JobPtr> taken_;  // of the thread
  Mutex mutex_;
  std::vector<JobPtr> inbox_ ABSL_GUARDED_BY(mutex_);
  std::atomic<bool> stopping_{false};  // set once, by the destructor
  std::thread thread_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<ScriptRunner>> MakeRedisRunner(
    const RedisOptions& options, std::vector<std::string> scripts,
    const Clock& clock, RunCounters& counters) {
  if (options.seeds.empty()) {
    return absl::InvalidArgumentError("redis: want at least one address");
  }
  if (options.connections < 1 || options.connections > kMaxConnections) {
    return absl::InvalidArgumentError("redis: want 1 to 16 connections");
  }
  if (options.max_pending < 1) {
    return absl::InvalidArgumentError("redis: want room for one run or more");
  }
  if (options.stall < absl::Milliseconds(1) ||
      options.max_backoff < absl::Milliseconds(1)) {
    return absl::InvalidArgumentError("redis: want times of 1 ms or more");
  }
  auto runner = std::make_unique<RedisRunner>(options, std::move(scripts),
                                              clock, counters);
  if (!runner->Start()) {
    return absl::ResourceExhaustedError("redis: no file descriptors left");
  }
  return runner;
}

}  // namespace tollgate::redis
