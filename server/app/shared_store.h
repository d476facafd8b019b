#ifndef TOLLGATE_SERVER_APP_SHARED_STORE_H_
#define TOLLGATE_SERVER_APP_SHARED_STORE_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>

#include "absl/status/statusor.h"
#include "server/app/server_options.h"
#include "server/base/clock.h"
#include "server/limiter/bucket_store.h"
#include "server/limiter/limiter.h"
#include "server/metrics/metrics.h"
#include "server/redis/redis_store.h"
#include "server/redis/run_counters.h"
#include "server/redis/script_runner.h"

namespace tollgate {

// The store on Redis that the flags ask for, and what becomes of its runs.
// Thread-safe.
class SharedStore final : public redis::StoreObserver {
 public:
  // The limiter and the clock must outlive it. Does not wait for Redis.
  static absl::StatusOr<std::unique_ptr<SharedStore>> Create(
      const ServerOptions& options, Limiter& limiter,
      const Clock& steady_clock);

  void OnStoreError(redis::StoreOperation operation) override {
    ++errors_[static_cast<size_t>(operation)];
  }

  [[nodiscard]] BucketStore& store() { return *store_; }
  // Whether Redis answers now.
  [[nodiscard]] bool answers() const { return runner_->is_ready(); }
  // Whether it has ever answered.
  [[nodiscard]] bool has_answered() const;
  // Where it is, without the password.
  [[nodiscard]] const std::string& place() const { return place_; }
  // Runs that failed since the start.
  [[nodiscard]] uint64_t errors() const {
    return std::accumulate(errors_.begin(), errors_.end(), uint64_t{0});
  }
  [[nodiscard]] StoreTotals totals() const;

 private:
  SharedStore() = default;

  std::string place_;
  std::array<std::atomic<uint64_t>, redis::kStoreOperations> errors_{};
  mutable std::atomic<bool> has_answered_{false};
  redis::RunCounters counters_;
  const redis::ScriptRunner* runner_ = nullptr;  // the store's
  std::unique_ptr<BucketStore> store_;
};

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_APP_SHARED_STORE_H_
