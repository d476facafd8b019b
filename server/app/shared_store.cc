#include "server/app/shared_store.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "server/app/store_flags.h"
#include "server/redis/redis_options.h"
#include "server/redis/redis_runner.h"

namespace tollgate {

absl::StatusOr<std::unique_ptr<SharedStore>> SharedStore::Create(
    const ServerOptions& options, Limiter& limiter, const Clock& steady_clock) {
  absl::StatusOr<redis::RedisOptions> where = RedisOf(options);
  if (!where.ok()) return where.status();
  // A connection that owes an answer for several timeouts is no use.
  where->stall = std::max(where->stall, 4 * options.store_timeout);
  std::unique_ptr<SharedStore> shared(new SharedStore());
  shared->place_ = where->ToString();
  auto runner = redis::MakeRedisRunner(*where, redis::StoreScripts(),
                                       steady_clock, shared->counters_);
  if (!runner.ok()) return runner.status();
  shared->runner_ = runner->get();
  shared->store_ =
      redis::MakeRedisStore({.timeout = options.store_timeout,
                             .replicas = options.replicas,
                             .observer = shared.get()},
                            limiter, *std::move(runner), steady_clock);
  return shared;
}

bool SharedStore::has_answered() const {
  if (!has_answered_ && runner_->is_ready()) has_answered_ = true;
  return has_answered_ || counters_.answers() > 0;
}

StoreTotals SharedStore::totals() const {
  StoreTotals totals;
  for (size_t i = 0; i < errors_.size(); ++i) {
    totals.errors.push_back(
        {redis::NameOf(static_cast<redis::StoreOperation>(i)), errors_[i]});
  }
  for (size_t i = 0; i < redis::kRunErrors; ++i) {
    const auto error = static_cast<redis::RunError>(i);
    totals.run_errors.push_back(
        {redis::NameOf(error), counters_.errors(error)});
  }
  const redis::RunCounters::Durations durations = counters_.durations();
  constexpr double kSecond = 1e9;
  for (size_t i = 0; i < durations.size(); ++i) {
    const double bound =
        i < redis::RunCounters::kBoundsNs.size()
            ? static_cast<double>(redis::RunCounters::kBoundsNs[i]) / kSecond
            : std::numeric_limits<double>::infinity();
    totals.durations.push_back({bound, durations[i]});
  }
  totals.total_seconds = static_cast<double>(counters_.total_ns()) / kSecond;
  return totals;
}

}  // namespace tollgate
