#ifndef TOLLGATE_SERVER_RPC_QUEUE_WAIT_H_
#define TOLLGATE_SERVER_RPC_QUEUE_WAIT_H_

#include <cstdint>
#include <utility>

#include "absl/time/time.h"

namespace tollgate {

// How long a wait must stand before it counts. One pause of the thread, after
// which it soon has caught up, is no reason to turn anybody away.
inline constexpr absl::Duration kStandingWait = absl::Milliseconds(100);

// Whether what comes to a queue waits too long for its thread, as CoDel asks
// (RFC 8289): not how long the longest wait was, but whether every one of a
// while was too long. The waits are those of marks, each put behind all that
// is in the queue. All instants are nanoseconds of one steady clock.
// Thread-compatible.
class QueueWait {
 public:
  // `longest` may be waited; zero is as long as it takes.
  explicit QueueWait(absl::Duration longest)
      : longest_ns_(absl::ToInt64Nanoseconds(longest)) {}

  [[nodiscard]] bool is_watched() const { return longest_ns_ > 0; }

  // A mark that was put at `put_ns` has come up at `now_ns`.
  void CameUp(int64_t put_ns, int64_t now_ns) {
    const bool was_above =
        std::exchange(is_above_, now_ns - put_ns > longest_ns_);
    if (!was_above) above_since_ns_ = now_ns;
    is_standing_ = is_above_ && now_ns - above_since_ns_ >=
                                    absl::ToInt64Nanoseconds(kStandingWait);
  }

  // Whether the last mark waited too long.
  [[nodiscard]] bool is_above() const { return is_above_; }
  // Whether all did for kStandingWait: calls are to be turned away.
  [[nodiscard]] bool is_standing() const { return is_standing_; }

 private:
  const int64_t longest_ns_;
  bool is_above_ = false;
  int64_t above_since_ns_ = 0;  // when the first of them in a row came up
  bool is_standing_ = false;
};

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_RPC_QUEUE_WAIT_H_
