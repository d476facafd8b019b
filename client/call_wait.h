#ifndef TOLLGATE_CLIENT_CALL_WAIT_H_
#define TOLLGATE_CLIENT_CALL_WAIT_H_

#include <condition_variable>
#include <cstdint>

#include "absl/functional/function_ref.h"
#include "server/base/mutex.h"

namespace tollgate::client {

// How a caller waits for its answer: the one place where the client blocks,
// apart so that tests wait without time passing. Thread-safe.
class CallWait {
 public:
  virtual ~CallWait() = default;

  // Returns once `done` is true, or the client's clock has reached
  // `deadline_ns`, whichever is first. `done` reads what `mutex` guards, and
  // `changed` is notified after each change of it.
  virtual void Wait(std::condition_variable_any& changed, Mutex& mutex,
                    absl::FunctionRef<bool()> done, int64_t deadline_ns)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) = 0;
};

}  // namespace tollgate::client

#endif  // TOLLGATE_CLIENT_CALL_WAIT_H_
