#include "client/breaker.h"

#include <algorithm>

#include "absl/numeric/int128.h"

namespace tollgate::client {

Breaker::Permit Breaker::Ask(int64_t now_ns) {
  if (!open_) return Permit::kSend;
  if (probe_is_out_ || now_ns < probe_at_ns_) return Permit::kLocal;
  probe_is_out_ = true;
  return Permit::kProbe;
}

void Breaker::OnFailure(int64_t now_ns, uint32_t random) {
  // A call that was sent before the breaker opened may fail after: it says
  // nothing new, and must not put off the probe.
  if (open_ || ++failures_ < options_.failures) return;
  open_ = true;
  pause_ns_ = options_.min_probe_ns;
  ScheduleProbe(now_ns, random);
}

void Breaker::OnProbeSuccess() {
  probe_is_out_ = false;
  Close();
}

void Breaker::OnProbeFailure(int64_t now_ns, uint32_t random) {
  probe_is_out_ = false;
  if (open_) ScheduleProbe(now_ns, random);
}

void Breaker::Close() {
  open_ = false;
  failures_ = 0;
}

void Breaker::ScheduleProbe(int64_t now_ns, uint32_t random) {
  const auto cut = static_cast<int64_t>(
      (absl::uint128(static_cast<uint64_t>(pause_ns_ / 2)) * random) >> 32);
  probe_at_ns_ = now_ns + pause_ns_ - cut;
  pause_ns_ = std::min(pause_ns_ * 2, options_.max_probe_ns);
}

}  // namespace tollgate::client
