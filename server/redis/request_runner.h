#ifndef TOLLGATE_SERVER_REDIS_REQUEST_RUNNER_H_
#define TOLLGATE_SERVER_REDIS_REQUEST_RUNNER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "server/redis/script_request.h"
#include "server/redis/script_runner.h"

namespace tollgate::redis {

// The scripts that a runner for this is made with, by number.
inline constexpr size_t kTakeScriptNumber = 0;   // TakeScript()
inline constexpr size_t kResetScriptNumber = 1;  // ResetScript()

// Runs requests of the script on a ScriptRunner. Where buckets are kept under
// another limit than asked, it carries them over and asks again: a take or a
// look under the limit that is asked, where only a take that is allowed moves
// the bucket there; a refund under the limit that is kept. So what is spent
// stays spent, also while processes with different rules take turns.
// Thread-safe.
class RequestRunner {
 public:
  // The request comes back, with the limits that its keys were asked under.
  using Done =
      absl::AnyInvocable<void(absl::StatusOr<ScriptAnswer>, ScriptRequest)>;

  explicit RequestRunner(std::unique_ptr<ScriptRunner> runner)
      : runner_(std::move(runner)) {}
  // Finishes what is under way; nothing new may come.
  ~RequestRunner() { closing_ = true; }

  // All keys are of one partition. `done` as ScriptRun::done; besides,
  // FAILED_PRECONDITION for a value that is no bucket, ABORTED if others
  // changed the bucket's limit again and again meanwhile.
  void Run(ScriptRequest request, int64_t deadline_ns, Done done);

  // Runs any script.
  void Run(ScriptRun run);

  [[nodiscard]] const ScriptRunner& runner() const { return *runner_; }

 private:
  struct Attempt;
  void Run(std::shared_ptr<Attempt> attempt);
  void Hear(std::shared_ptr<Attempt> attempt, absl::StatusOr<Reply> reply);

  std::atomic<bool> closing_{false};  // follow-ups must not begin any more
  const std::unique_ptr<ScriptRunner> runner_;  // the first to go
};

// Whether what failed with this status is sure not to have run.
[[nodiscard]] bool DidNotRun(const absl::Status& status);

}  // namespace tollgate::redis

#endif  // TOLLGATE_SERVER_REDIS_REQUEST_RUNNER_H_
