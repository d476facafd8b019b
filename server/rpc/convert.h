#ifndef TOLLGATE_SERVER_RPC_CONVERT_H_
#define TOLLGATE_SERVER_RPC_CONVERT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "google/protobuf/timestamp.pb.h"
#include "server/limiter/decision.h"
#include "server/limiter/request.h"
#include "tollgate/v1/rate_limiter.pb.h"

namespace tollgate {

// Shows a message of the wire as the core's Request, without copying text.
// Keeps its storage from one message to the next. Thread-compatible.
class RequestView {
 public:
  using Descriptors = google::protobuf::RepeatedPtrField<v1::Descriptor>;

  // Valid until the next call, and while `message` stands as it is. Does not
  // validate. An unset cost is 1.
  const Request& Show(const v1::ShouldAllowRequest& message,
                      int64_t deadline_ns) {
    return Show(message.domain(), message.descriptors(),
                message.has_cost() ? message.cost() : 1, deadline_ns);
  }
  const Request& Show(const std::string& domain, const Descriptors& descriptors,
                      uint64_t cost, int64_t deadline_ns);

 private:
  std::vector<Entry> entries_;
  std::vector<Descriptor> descriptors_;
  Request request_;
};

// `response` must be empty; `decision` must not be expired, which has no place
// in the proto.
void ToProto(const Decision& decision, v1::ShouldAllowResponse& response);

// `out` must be empty.
void ToProto(const RuleStatus& status, v1::RuleStatus& out);
void ToProto(const Limit& limit, v1::Limit& out);

// The instant in nanoseconds since the Unix epoch. INVALID_ARGUMENT, naming no
// field, if it is no instant of the years 1970 to 2116.
[[nodiscard]] absl::StatusOr<int64_t> ToNs(
    const google::protobuf::Timestamp& time);

// A ticket is the slots that a decision holds, one after the other, each as its
// bucket's fingerprint (high half, low half) and its own number: three integers
// of 8 bytes, the highest byte first. Where another store holds them, each is
// followed by its place. Whoever holds one need not know.
inline constexpr size_t kSlotBytes = 24;
inline constexpr size_t kMaxTicketSlots = 4096;

// Empty if there are no slots.
[[nodiscard]] std::string TicketOf(absl::Span<const HeldSlots> slots);

// INVALID_ARGUMENT naming `ticket` unless it is 1 to kMaxTicketSlots slots.
[[nodiscard]] absl::StatusOr<std::vector<HeldSlots>> SlotsOf(
    absl::string_view ticket);

// Bytes of one bucket within an overflow, and the buckets that one may have.
inline constexpr size_t kFingerprintBytes = 16;
inline constexpr size_t kMaxOverflow = 1024;

// Empty if there are none.
[[nodiscard]] std::string OverflowTextOf(
    absl::Span<const Fingerprint> overflow);

// INVALID_ARGUMENT naming `overflow` unless it is 0 to kMaxOverflow buckets.
[[nodiscard]] absl::StatusOr<std::vector<Fingerprint>> OverflowOf(
    absl::string_view text);

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_RPC_CONVERT_H_
