#ifndef TOLLGATE_SERVER_REDIS_REDIS_STORE_H_
#define TOLLGATE_SERVER_REDIS_REDIS_STORE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "server/base/clock.h"
#include "server/limiter/bucket_store.h"
#include "server/limiter/limiter.h"
#include "server/limiter/rule.h"
#include "server/redis/script_runner.h"

namespace tollgate::redis {

// What the store may fail at, for metrics.
enum class StoreOperation { kTake, kRefund, kRelease, kReset };
inline constexpr size_t kStoreOperations = 4;

// "take", "refund", "release", "reset".
[[nodiscard]] absl::string_view NameOf(StoreOperation operation);

// Told what becomes of runs. Called on any thread, so it must be fast and
// thread-safe.
class StoreObserver {
 public:
  virtual ~StoreObserver() = default;
  virtual void OnStoreError(StoreOperation operation) = 0;
};

struct RedisStoreOptions {
  // How long a request waits for Redis before its rules' outage policies
  // decide. Above 0; the round trip and Redis' own pauses should fit in.
  absl::Duration timeout = absl::Milliseconds(10);
  // Processes that share each limit while Redis is out of reach, 1 or more.
  uint32_t replicas = 1;
  StoreObserver* observer = nullptr;  // may be null; must outlive the store
};

// The scripts that a store's runner must be made with.
[[nodiscard]] std::vector<std::string> StoreScripts();

// INVALID_ARGUMENT for the first rule that cannot be kept in Redis, and why.
[[nodiscard]] absl::Status CheckRules(absl::Span<const Rule> rules);

// Buckets that processes share, in Redis or a Redis Cluster. The rules are
// `limiter`'s, which also counts decisions, and keeps this process's share of a
// limit while Redis is out of reach. On one server all buckets of a request are
// asked in one run; in a cluster one hash slot after the other, and what was
// taken before a refusal is given back. `limiter` and the clock, which is a
// steady one, must outlive the store; no call may be under way when it goes.
[[nodiscard]] std::unique_ptr<BucketStore> MakeRedisStore(
    const RedisStoreOptions& options, Limiter& limiter,
    std::unique_ptr<ScriptRunner> runner, const Clock& steady_clock);

}  // namespace tollgate::redis

#endif  // TOLLGATE_SERVER_REDIS_REDIS_STORE_H_
