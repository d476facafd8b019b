#include "server/base/fd_thread.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <thread>
#include <utility>

namespace tollgate {

struct FdThread::Shared {
  int fd = -1;
  // Readable once somebody called. It cannot fail but for want of descriptors;
  // then a call is heard only at the end of the pause.
  int bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  std::atomic<bool> stopping{false};  // set by the destructor, read by `thread`
  std::thread thread;

  ~Shared() {
    if (bell >= 0) close(bell);
  }

  void Ring() const {
    const uint64_t one = 1;
    // Full means that it rings already.
    [[maybe_unused]] const ssize_t n = write(bell, &one, sizeof(one));
  }

  // False if the thread must stop.
  bool Pause(absl::Duration pause) const {
    // An hour is as good as longer: the step may run more often.
    const absl::Duration longest =
        bell >= 0 ? absl::Hours(1) : absl::Seconds(1);
    const timespec timeout =
        absl::ToTimespec(std::clamp(pause, absl::ZeroDuration(), longest));
    std::array<pollfd, 2> waits = {pollfd{bell, POLLIN, 0},
                                   pollfd{fd, POLLIN, 0}};
    ppoll(waits.data(), waits.size(), &timeout, nullptr);
    uint64_t rung = 0;
    [[maybe_unused]] const ssize_t n = read(bell, &rung, sizeof(rung));
    return !stopping;
  }
};

FdThread::FdThread(int fd, std::function<absl::Duration()> step)
    : shared_(std::make_unique<Shared>()) {
  shared_->fd = fd;
  shared_->thread =
      std::thread([shared = shared_.get(), step = std::move(step)] {
        while (shared->Pause(step())) {
        }
      });
}

FdThread::~FdThread() {
  shared_->stopping = true;
  shared_->Ring();
  shared_->thread.join();
}

void FdThread::Wake() { shared_->Ring(); }

}  // namespace tollgate
