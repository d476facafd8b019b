#ifndef TOLLGATE_SERVER_REDIS_JOB_H_
#define TOLLGATE_SERVER_REDIS_JOB_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "server/redis/redis_options.h"
#include "server/redis/script_runner.h"

namespace tollgate::redis {

// A run on its way to an answer. Of the runner's thread.
struct Job {
  ScriptRun run;
  int64_t taken_at_ns = 0;
  int attempts = 0;           // sent so often
  bool sent_whole = false;    // as EVAL, since the script was not there
  int64_t not_before_ns = 0;  // the next attempt; 0: at once
  bool was_asking = false;    // the last attempt was, with ASKING
  // Where the next attempt must go, with ASKING; else the slot's own node.
  std::optional<Endpoint> ask_at;
};
using JobPtr = std::unique_ptr<Job>;

inline constexpr int64_t kNever = int64_t{1} << 62;  // no instant is later

}  // namespace tollgate::redis

#endif  // TOLLGATE_SERVER_REDIS_JOB_H_
