#ifndef TOLLGATE_SERVER_REDIS_SCRIPT_RUNNER_H_
#define TOLLGATE_SERVER_REDIS_SCRIPT_RUNNER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tollgate::redis {

// What Redis answered: a copy, so that it outlives the connection's buffers.
// Errors are not replies; they are statuses.
struct Reply {
  enum class Kind { kNil, kInteger, kText, kArray };
  Kind kind = Kind::kNil;
  int64_t integer = 0;
  std::string text;             // bulk or status
  std::vector<Reply> elements;  // of an array
};

// One run of a script. All keys are of one partition.
struct ScriptRun {
  size_t script = 0;  // of those that the runner was made with
  std::vector<std::string> keys;
  std::vector<std::string> args;
  // After this instant of the steady clock (nanoseconds) nobody waits: the run
  // finishes with DEADLINE_EXCEEDED, whatever Redis does with it.
  int64_t deadline_ns = 0;
  // Called once, on the runner's own thread or, where the run is turned away,
  // before Run returns. It must not block. The status is
  //   DEADLINE_EXCEEDED   no answer in time; it may have run all the same
  //   UNAVAILABLE         not connected, Redis does not answer, too many runs
  //                       are under way, or the connection was lost; only in
  //                       the last case it may have run. The message says which
  //   FAILED_PRECONDITION Redis answered with an error: "OOM ...", "READONLY
  //                       ...", "WRONGTYPE ...", LOADING, BUSY, NOPERM, ...
  absl::AnyInvocable<void(absl::StatusOr<Reply>)> done;
};

// Runs scripts on one Redis, or on the nodes of a cluster. Thread-safe; never
// blocks.
class ScriptRunner {
 public:
  virtual ~ScriptRunner() = default;

  // Keys of equal partitions may go into one run: all of them on a single node,
  // those of one hash slot in a cluster.
  [[nodiscard]] virtual int PartitionOf(absl::string_view key) const = 0;

  virtual void Run(ScriptRun run) = 0;

  // Whether Redis answers at the moment (of a cluster: every node that has
  // slots), for readiness.
  [[nodiscard]] virtual bool is_ready() const = 0;
};

}  // namespace tollgate::redis

#endif  // TOLLGATE_SERVER_REDIS_SCRIPT_RUNNER_H_
