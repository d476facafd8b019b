#ifndef TOLLGATE_SERVER_REDIS_IO_LOOP_H_
#define TOLLGATE_SERVER_REDIS_IO_LOOP_H_

#include <cstdint>

namespace tollgate::redis {

// Waits for sockets and for a bell (epoll). Of one thread, but for Ring.
class IoLoop {
 public:
  // What waits for a socket.
  class Handler {
   public:
    virtual ~Handler() = default;
    // The socket can be read, written, or has failed. It may come once more
    // after Forget, until Wait returns: a handler is destroyed only then.
    virtual void OnSocket() = 0;
  };

  IoLoop();
  ~IoLoop();
  IoLoop(const IoLoop&) = delete;
  IoLoop& operator=(const IoLoop&) = delete;

  // Whether the system had the descriptors it needs.
  [[nodiscard]] bool is_usable() const { return epoll_ >= 0 && bell_ >= 0; }

  // Waits for `fd` to be readable, and writable too if told so. False if the
  // system refuses.
  bool Watch(int fd, Handler& handler);
  void WatchWrites(int fd, Handler& handler, bool writes);
  void Forget(int fd);  // before it is closed

  // Calls the handlers of what is ready; if nothing is, after `pause_ns` at the
  // latest (rounded up to ms), at once if that is 0 or less.
  void Wait(int64_t pause_ns);

  // Ends the Wait in progress, or the next one. Thread-safe.
  void Ring() const;

 private:
  const int epoll_;
  const int bell_;
};

}  // namespace tollgate::redis

#endif  // TOLLGATE_SERVER_REDIS_IO_LOOP_H_
