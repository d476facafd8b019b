#ifndef TOLLGATE_SERVER_REDIS_REDIS_RUNNER_H_
#define TOLLGATE_SERVER_REDIS_REDIS_RUNNER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/base/clock.h"
#include "server/redis/redis_options.h"
#include "server/redis/run_counters.h"
#include "server/redis/script_runner.h"

namespace tollgate::redis {

// Runs `scripts`, the texts of Lua scripts, on Redis, over one I/O thread. It
// returns at once, whether there is a Redis or not, and connects from then on.
// What runs are still under way when the runner is destroyed are done before
// that returns. `clock` is a steady one, that of the runs' deadlines; it and
// `counters` must outlive the runner. INVALID_ARGUMENT for options out of
// range; RESOURCE_EXHAUSTED without file descriptors.
absl::StatusOr<std::unique_ptr<ScriptRunner>> MakeRedisRunner(
    const RedisOptions& options, std::vector<std::string> scripts,
    const Clock& clock, RunCounters& counters);

}  // namespace tollgate::redis

#endif  // TOLLGATE_SERVER_REDIS_REDIS_RUNNER_H_
