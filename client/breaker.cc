#include "client/breaker.h"

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
  backoff_.Reset();
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
  probe_at_ns_ = now_ns + backoff_.Next(random);
}

}  // namespace tollgate::client
