#ifndef TOLLGATE_SERVER_BASE_FD_THREAD_H_
#define TOLLGATE_SERVER_BASE_FD_THREAD_H_

#include <functional>
#include <memory>

#include "absl/time/time.h"

namespace tollgate {

// Calls a function on a thread of its own, whenever a file descriptor can be
// read or a pause is over, until destroyed. Thread-safe.
class FdThread {
 public:
  // `step` runs on the new thread, once at its start. It must read all that
  // `fd` has, and returns how long to wait for more before it runs anyway; zero
  // or less runs it again at once. `fd` must outlive the thread; -1 is none.
  FdThread(int fd, std::function<absl::Duration()> step);
  // Stops after the step in progress, without waiting out a pause.
  ~FdThread();
  FdThread(const FdThread&) = delete;
  FdThread& operator=(const FdThread&) = delete;

  // Ends the pause in progress, so that the next step runs now.
  void Wake();

 private:
  struct Shared;
  std::unique_ptr<Shared> shared_;
};

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_BASE_FD_THREAD_H_
