#ifndef TOLLGATE_SERVER_REDIS_RESOLVER_H_
#define TOLLGATE_SERVER_REDIS_RESOLVER_H_

#include <sys/socket.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "server/base/mutex.h"
#include "server/base/periodic_thread.h"
#include "server/redis/redis_options.h"

namespace tollgate::redis {

// Where a socket can be connected to. A plain value.
struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;
};

// The address that an endpoint names by numbers; nothing if it has a name.
[[nodiscard]] std::optional<Address> NumericAddress(const Endpoint& endpoint);

// Looks up names on a thread of its own, since the system's way to do so may
// wait for many seconds, and its end too then. Thread-safe.
class Resolver {
 public:
  // `ring` is called, on that thread, when there is an answer to Take.
  explicit Resolver(std::function<void()> ring);

  void Ask(const Endpoint& endpoint);

  // Answers since the last call; without addresses if there is no such name.
  [[nodiscard]] std::vector<std::pair<Endpoint, std::vector<Address>>> Take();

 private:
  void LookUpAll();

  const std::function<void()> ring_;
  Mutex mutex_;
  std::vector<Endpoint> asked_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::pair<Endpoint, std::vector<Address>>> found_
      ABSL_GUARDED_BY(mutex_);
  PeriodicThread thread_;  // last: it uses the others
};

}  // namespace tollgate::redis

#endif  // TOLLGATE_SERVER_REDIS_RESOLVER_H_
