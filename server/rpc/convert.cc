#include "server/rpc/convert.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace tollgate {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;

// `ns` must not be negative.
void SetDuration(int64_t ns, google::protobuf::Duration& duration) {
  duration.set_seconds(ns / kSecondNs);
  duration.set_nanos(static_cast<int32_t>(ns % kSecondNs));
}

v1::Outcome OutcomeToProto(Outcome outcome) {
  switch (outcome) {
    case Outcome::kAllowed:
      return v1::ALLOWED;
    case Outcome::kRefused:
      return v1::REFUSED;
    case Outcome::kImpossible:
      return v1::IMPOSSIBLE;
    case Outcome::kExpired:
    case Outcome::kOverridden:
      break;
  }
  return v1::OUTCOME_UNSPECIFIED;
}

void AppendBytes(uint64_t number, std::string& out) {
  for (int shift = 56; shift >= 0; shift -= 8) {
    out += static_cast<char>(number >> shift);
  }
}

uint64_t BytesAt(absl::string_view bytes, size_t at) {
  uint64_t number = 0;
  for (size_t i = at; i < at + sizeof(number); ++i) {
    number = number << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return number;
}

}  // namespace

const Request& RequestView::Show(const std::string& domain,
                                 const Descriptors& descriptors, uint64_t cost,
                                 int64_t deadline_ns) {
  size_t entries = 0;
  for (const v1::Descriptor& descriptor : descriptors) {
    entries += descriptor.entries_size();
  }
  entries_.clear();
  entries_.reserve(entries);  // so that no span below moves
  descriptors_.clear();
  for (const v1::Descriptor& descriptor : descriptors) {
    const Entry* const first = entries_.data() + entries_.size();
    for (const v1::Entry& entry : descriptor.entries()) {
      entries_.push_back({entry.key(), entry.value()});
    }
    descriptors_.emplace_back(first, descriptor.entries_size());
  }
  request_.domain = domain;
  request_.descriptors = descriptors_;
  request_.cost = cost;
  request_.deadline_ns = deadline_ns;
  return request_;
}

void ToProto(const Limit& limit, v1::Limit& out) {
  out.set_tokens(limit.tokens());
  out.set_burst(limit.burst());
  SetDuration(limit.period_ns(), *out.mutable_period());
}

void ToProto(const RuleStatus& status, v1::RuleStatus& out) {
  out.set_rule(status.rule->name);
  out.set_outcome(OutcomeToProto(status.outcome));
  out.set_shadow(status.shadow);
  out.set_overflow(status.overflow);
  out.set_outage(status.outage);
  if (status.unlimited) {
    out.set_unlimited(true);
    return;
  }
  if (status.action == BucketAction::kNone) return;  // not asked
  ToProto(status.limit, *out.mutable_limit());
  if (status.refuses_all) {
    out.mutable_limit()->set_tokens(0);
    out.mutable_limit()->set_burst(0);
  }
  out.set_remaining(status.remaining);
  SetDuration(status.reset_after_ns, *out.mutable_reset_after());
  SetDuration(status.retry_after_ns, *out.mutable_retry_after());
  if (status.delay_ns > 0) SetDuration(status.delay_ns, *out.mutable_delay());
}

void ToProto(const Decision& decision, v1::ShouldAllowResponse& response) {
  response.set_outcome(OutcomeToProto(decision.outcome));
  if (decision.outcome == Outcome::kRefused) {
    SetDuration(decision.retry_after_ns, *response.mutable_retry_after());
    if (decision.stands_for_ns > 0) {
      SetDuration(decision.stands_for_ns, *response.mutable_stands_for());
    }
  }
  if (decision.delay_ns > 0) {
    SetDuration(decision.delay_ns, *response.mutable_delay());
  }
  if (!decision.slots.empty()) response.set_ticket(TicketOf(decision.slots));
  if (!decision.overflow.empty()) {
    response.set_overflow(OverflowTextOf(decision.overflow));
  }
  google::protobuf::Timestamp& decided_at = *response.mutable_decided_at();
  decided_at.set_seconds(decision.decided_at_ns / kSecondNs);
  decided_at.set_nanos(
      static_cast<int32_t>(decision.decided_at_ns % kSecondNs));
  response.mutable_statuses()->Reserve(
      static_cast<int>(decision.statuses.size()));
  for (const RuleStatus& status : decision.statuses) {
    ToProto(status, *response.add_statuses());
  }
}

absl::StatusOr<int64_t> ToNs(const google::protobuf::Timestamp& time) {
  constexpr int64_t kEndSeconds = (int64_t{1} << 62) / kSecondNs;
  if (time.seconds() < 0 || time.seconds() >= kEndSeconds || time.nanos() < 0 ||
      time.nanos() >= kSecondNs) {
    return absl::InvalidArgumentError(
        absl::StrCat("got ", time.seconds(), " s and ", time.nanos(),
                     " ns, want an instant of the years 1970 to 2116"));
  }
  return time.seconds() * kSecondNs + time.nanos();
}

// Where a slot is held elsewhere, its place follows, after its length. The
// length of such a ticket is no multiple of kSlotBytes.
std::string TicketOf(absl::Span<const HeldSlots> slots) {
  std::string ticket;
  ticket.reserve(slots.size() * kSlotBytes);
  const bool placed =
      std::any_of(slots.begin(), slots.end(),
                  [](const HeldSlots& held) { return !held.place.empty(); });
  for (const HeldSlots& held : slots) {
    AppendBytes(held.fingerprint.hi, ticket);
    AppendBytes(held.fingerprint.lo, ticket);
    AppendBytes(held.ticket, ticket);
    if (!placed) continue;
    AppendBytes(held.place.size(), ticket);
    ticket.append(held.place.data(), held.place.size());
  }
  if (placed && ticket.size() % kSlotBytes == 0) ticket.push_back('\0');
  return ticket;
}

std::string OverflowTextOf(absl::Span<const Fingerprint> overflow) {
  std::string text;
  text.reserve(overflow.size() * kFingerprintBytes);
  for (const Fingerprint& fingerprint : overflow) {
    AppendBytes(fingerprint.hi, text);
    AppendBytes(fingerprint.lo, text);
  }
  return text;
}

absl::StatusOr<std::vector<Fingerprint>> OverflowOf(absl::string_view text) {
  if (text.size() % kFingerprintBytes != 0 ||
      text.size() > kFingerprintBytes * kMaxOverflow) {
    return absl::InvalidArgumentError(
        absl::StrCat("overflow: got ", text.size(),
                     " bytes, want the overflow of an allowed request"));
  }
  std::vector<Fingerprint> overflow;
  overflow.reserve(text.size() / kFingerprintBytes);
  for (size_t at = 0; at < text.size(); at += kFingerprintBytes) {
    overflow.push_back({BytesAt(text, at), BytesAt(text, at + 8)});
  }
  return overflow;
}

absl::StatusOr<std::vector<HeldSlots>> SlotsOf(absl::string_view ticket) {
  const absl::Status bad = absl::InvalidArgumentError(
      absl::StrCat("ticket: got ", ticket.size(),
                   " bytes, want the ticket of an allowed request"));
  const bool placed = ticket.size() % kSlotBytes != 0;
  const size_t each = kSlotBytes + (placed ? sizeof(uint64_t) : 0);
  std::vector<HeldSlots> slots;
  size_t at = 0;
  // One byte more may be left that makes the length of a placed ticket odd.
  while (ticket.size() - at >= each && slots.size() < kMaxTicketSlots) {
    HeldSlots& held = slots.emplace_back();
    held.fingerprint = {BytesAt(ticket, at), BytesAt(ticket, at + 8)};
    held.ticket = BytesAt(ticket, at + 16);
    at += each;
    if (!placed) continue;
    const uint64_t size = BytesAt(ticket, at - sizeof(uint64_t));
    if (size > ticket.size() - at) return bad;
    held.place = ticket.substr(at, size);
    at += size;
  }
  const size_t left = ticket.size() - at;
  if (slots.empty() || left > (placed ? 1 : 0)) return bad;
  return slots;
}

}  // namespace tollgate
