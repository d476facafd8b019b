#ifndef TOLLGATE_SERVER_BASE_PERIODIC_THREAD_H_
#define TOLLGATE_SERVER_BASE_PERIODIC_THREAD_H_

#include <functional>
#include <memory>

#include "absl/time/time.h"

namespace tollgate {

// Calls a function on a thread of its own, again and again, until destroyed.
// This is the one place that waits by the machine's clock. Thread-safe.
class PeriodicThread {
 public:
  // `step` runs on the new thread and returns how long to wait before it runs
  // again; zero or less runs it again at once.
  explicit PeriodicThread(std::function<absl::Duration()> step);
  // Stops after the step in progress, without waiting out a pause.
  ~PeriodicThread();
  PeriodicThread(const PeriodicThread&) = delete;
  PeriodicThread& operator=(const PeriodicThread&) = delete;

  // Ends the pause in progress, so that the next step runs now.
  void Wake();

 private:
  struct Shared;
  std::unique_ptr<Shared> shared_;
};

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_BASE_PERIODIC_THREAD_H_
