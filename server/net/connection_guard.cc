#include "server/net/connection_guard.h"

#include <algorithm>
#include <utility>

namespace tollgate::net {

Verdict ConnectionGuard::Look(const TcpSample& sample, uint64_t credit,
                              int64_t now_ns, const GuardLimits& limits) {
  // The kernel's count never falls, but `unread` may be of another instant.
  const uint64_t read = std::max(read_, sample.read);
  const uint64_t owed = debt_ + (read - std::exchange(read_, read));
  const uint64_t paid = credit - std::exchange(credit_, credit);
  debt_ = owed - std::min(owed, paid);
  calls_began_ = paid > 0;
  may_stall_ = limits.stalling_bytes > 0 && debt_ > limits.stalling_bytes &&
               sample.unread > 0;
  if (ReadsTooSlowly(sample, now_ns, limits.slow_reader)) {
    return Verdict::kSlowReader;
  }
  const bool was_over = std::exchange(
      over_, limits.unaccounted_bytes > 0 && debt_ > Allowed(limits));
  if (!over_) return Verdict::kKeep;
  if (!was_over) over_since_ns_ = now_ns;
  return absl::Nanoseconds(now_ns - over_since_ns_) >= kGuardPatience
             ? Verdict::kFlood
             : Verdict::kLookAgain;
}

uint64_t ConnectionGuard::Allowed(const GuardLimits& limits) const {
  if (limits.unproven_bytes == 0) return limits.unaccounted_bytes;
  return std::min(limits.unaccounted_bytes,
                  limits.unproven_bytes + (credit_ - first_credit_));
}

bool ConnectionGuard::ReadsTooSlowly(const TcpSample& sample, int64_t now_ns,
                                     absl::Duration patience) {
  if (patience <= absl::ZeroDuration()) return false;
  if (!waiting_ || sample.acked >= taken_at_) {
    waiting_ = sample.pending > 0;
    waiting_since_ns_ = now_ns;
    acked_then_ = sample.acked;
    taken_at_ = sample.acked + sample.pending;
    return false;
  }
  const absl::Duration waited = absl::Nanoseconds(now_ns - waiting_since_ns_);
  const auto seconds = static_cast<uint64_t>(absl::ToInt64Seconds(waited));
  return waited >= patience &&
         sample.acked - acked_then_ < seconds * kMinDrainBytes;
}

}  // namespace tollgate::net
