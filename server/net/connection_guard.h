#ifndef TOLLGATE_SERVER_NET_CONNECTION_GUARD_H_
#define TOLLGATE_SERVER_NET_CONNECTION_GUARD_H_

#include <cstdint>

#include "absl/time/time.h"
#include "server/net/tcp_probe.h"

namespace tollgate::net {

struct GuardLimits {
  // Bytes that a connection may have sent beyond what its calls account for;
  // 0 is any number. What is under way counts: the messages of all calls that
  // have begun and are not complete must fit in.
  uint64_t unaccounted_bytes = 0;
  // The same for a connection whose calls have accounted for nothing so far;
  // what they do account for is added, up to unaccounted_bytes. 0 is
  // unaccounted_bytes from the start.
  uint64_t unproven_bytes = 0;
  // The same while the server is stalled, see StallWatch; 0 is any number.
  uint64_t stalling_bytes = 0;
  // How long an address is refused further connections once one of its was cut
  // for that; zero is not at all. For the listener.
  absl::Duration flood_block = absl::ZeroDuration();
  // How long what is written may wait for a peer that takes fewer than
  // kMinDrainBytes of it a second; zero is for ever.
  absl::Duration slow_reader = absl::ZeroDuration();
};

inline constexpr uint64_t kMinDrainBytes = 1024;
// How long a connection may be over the limit: what was read a moment ago may
// not have begun calls yet.
inline constexpr absl::Duration kGuardPatience = absl::Milliseconds(15);

enum class Verdict { kKeep, kLookAgain, kFlood, kSlowReader };

// What one connection did so far, judged from one look to the next. What a
// peer sends is a debt, and calls that begin pay it; a debt is never below
// zero, so nobody can save up. A flood of streams that are reset at once, of
// header frames without an end, or of bodies that never end pays nothing. A
// plain value. Thread-compatible.
class ConnectionGuard {
 public:
  // `credit`: what the ledger has for the peer by now.
  explicit ConnectionGuard(uint64_t credit)
      : first_credit_(credit), credit_(credit) {}

  // `credit` must have been read before `sample`. kLookAgain: it is over the
  // limit, but calls may be about to begin.
  [[nodiscard]] Verdict Look(const TcpSample& sample, uint64_t credit,
                             int64_t now_ns, const GuardLimits& limits);

  // Of the last look: whether calls had begun since the one before, and whether
  // it is one of those that may stall the server: it owes more than
  // stalling_bytes, and sends faster than it is read.
  [[nodiscard]] bool calls_began() const { return calls_began_; }
  [[nodiscard]] bool may_stall() const { return may_stall_; }

 private:
  [[nodiscard]] uint64_t Allowed(const GuardLimits& limits) const;
  [[nodiscard]] bool ReadsTooSlowly(const TcpSample& sample, int64_t now_ns,
                                    absl::Duration patience);

  uint64_t first_credit_;
  uint64_t credit_;
  uint64_t read_ = 0;
  uint64_t debt_ = 0;
  bool calls_began_ = false;
  bool may_stall_ = false;
  bool over_ = false;
  int64_t over_since_ns_ = 0;
  // What was pending at an earlier look and still is not all taken: since when,
  // what the peer had acknowledged then, and what it will have once it took it.
  bool waiting_ = false;
  int64_t waiting_since_ns_ = 0;
  uint64_t acked_then_ = 0;
  uint64_t taken_at_ = 0;
};

}  // namespace tollgate::net

#endif  // TOLLGATE_SERVER_NET_CONNECTION_GUARD_H_
