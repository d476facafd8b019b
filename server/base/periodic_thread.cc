#include "server/base/periodic_thread.h"

#include <algorithm>
#include <condition_variable>
#include <thread>
#include <utility>

#include "server/base/mutex.h"

namespace tollgate {

struct PeriodicThread::Shared {
  Mutex mutex;
  std::condition_variable_any changed;
  bool stopping ABSL_GUARDED_BY(mutex) = false;
  bool woken ABSL_GUARDED_BY(mutex) = false;
  std::thread thread;

  // Waits for `pause` or until woken. False if the thread must stop.
  bool Pause(absl::Duration pause) {
    // An instant that a clock cannot tell would lie in the past.
    constexpr absl::Duration kLongest = absl::Hours(24 * 365);
    MutexLock lock(mutex);
    const auto until = std::chrono::steady_clock::now() +
                       absl::ToChronoNanoseconds(std::min(pause, kLongest));
    while (!stopping && !woken) {
      if (changed.wait_until(mutex, until) == std::cv_status::timeout) break;
    }
    woken = false;
    return !stopping;
  }
};

PeriodicThread::PeriodicThread(std::function<absl::Duration()> step)
    : shared_(std::make_unique<Shared>()) {
  shared_->thread =
      std::thread([shared = shared_.get(), step = std::move(step)] {
        while (shared->Pause(step())) {
        }
      });
}

PeriodicThread::~PeriodicThread() {
  {
    MutexLock lock(shared_->mutex);
    shared_->stopping = true;
  }
  shared_->changed.notify_all();
  shared_->thread.join();
}

void PeriodicThread::Wake() {
  {
    MutexLock lock(shared_->mutex);
    shared_->woken = true;
  }
  shared_->changed.notify_all();
}

}  // namespace tollgate
