#include "server/redis/io_loop.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace tollgate::redis {

IoLoop::IoLoop()
    : epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      bell_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.ptr = nullptr;
  if (is_usable()) ::epoll_ctl(epoll_, EPOLL_CTL_ADD, bell_, &event);
}

IoLoop::~IoLoop() {
  if (epoll_ >= 0) ::close(epoll_);
  if (bell_ >= 0) ::close(bell_);
}

bool IoLoop::Watch(int fd, Handler& handler) {
  epoll_event event{};
  event.events = EPOLLIN | EPOLLOUT;  // writable once connected
  event.data.ptr = &handler;
  return ::epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) == 0;
}

void IoLoop::WatchWrites(int fd, Handler& handler, bool writes) {
  epoll_event event{};
  event.events = EPOLLIN;
  if (writes) event.events |= EPOLLOUT;
  event.data.ptr = &handler;
  ::epoll_ctl(epoll_, EPOLL_CTL_MOD, fd, &event);
}

void IoLoop::Forget(int fd) { ::epoll_ctl(epoll_, EPOLL_CTL_DEL, fd, nullptr); }

void IoLoop::Wait(int64_t pause_ns) {
  constexpr int64_t kNsPerMs = 1'000'000;
  constexpr int64_t kLongestMs = 60'000;
  const int64_t pause_ms =
      pause_ns <= 0 ? 0 : std::min(kLongestMs, (pause_ns - 1) / kNsPerMs + 1);
  std::array<epoll_event, 64> events;
  const int count =
      ::epoll_wait(epoll_, events.data(), static_cast<int>(events.size()),
                   static_cast<int>(pause_ms));
  for (int i = 0; i < count; ++i) {
    if (events[static_cast<size_t>(i)].data.ptr != nullptr) {
      static_cast<Handler*>(events[static_cast<size_t>(i)].data.ptr)
          ->OnSocket();
      continue;
    }
    uint64_t rung = 0;
    [[maybe_unused]] const ssize_t n = ::read(bell_, &rung, sizeof(rung));
  }
}

void IoLoop::Ring() const {
  const uint64_t one = 1;
  // Full means that it rings already.
  [[maybe_unused]] const ssize_t n = ::write(bell_, &one, sizeof(one));
}

}  // namespace tollgate::redis
