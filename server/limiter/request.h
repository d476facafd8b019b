#ifndef TOLLGATE_SERVER_LIMITER_REQUEST_H_
#define TOLLGATE_SERVER_LIMITER_REQUEST_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/limiter/limit_unit.h"

namespace tollgate {

// One fact about a request, such as user = ana.
struct Entry {
  absl::string_view key;
  absl::string_view value;
};

// The entries that describe one request. Where a key occurs twice, rules see
// the first.
using Descriptor = absl::Span<const Entry>;

// A limit that a request brings along for one of its descriptors, in place of
// the rules: Envoy's RateLimitOverride.
struct LimitOverride {
  uint64_t requests_per_unit = 0;  // 0 refuses everything
  LimitUnit unit = LimitUnit::kUnknown;
};

// What is asked for one descriptor where that differs from the other ones, as
// Envoy's protocol allows.
struct DescriptorTerms {
  // Tokens, in place of Request::cost. 0 is a probe: it takes nothing and says
  // what is left. Under a native rule it is refused where a cost of 1 would be;
  // under a rule from an Envoy-format file it never is.
  std::optional<uint64_t> hits;
  // The tokens are given back instead of taken, up to the bucket's capacity.
  // Always allowed, and done whether or not the rest of the request is allowed:
  // what somebody returns must not be lost.
  bool refund = false;
  // Asked instead of every rule, in a domain that some rule names; the bucket
  // is of these entries and this limit alone. Elsewhere it means nothing.
  std::optional<LimitOverride> limit;
};

// What is asked: may this go ahead now? Views only; whoever asks keeps the
// text alive until the decision is made.
struct Request {
  absl::string_view domain;
  absl::Span<const Descriptor> descriptors;
  // Tokens, before a rule's own factor. 0 is a peek: it takes nothing, creates
  // no state, and says what a cost of 1 would get.
  uint64_t cost = 1;
  // After this instant (nanoseconds since the Unix epoch, of the limiter's
  // clock) nobody waits for the answer, and nothing is taken.
  int64_t deadline_ns = std::numeric_limits<int64_t>::max();
  // One for each descriptor, or none at all: `cost` for all of them. With
  // `cost` 0 nothing is taken or given back, whatever the terms say.
  absl::Span<const DescriptorTerms> terms = {};
  // How many limiters share each limit evenly, this one among them, 1 or more:
  // each token counts as often, so that together they keep to the limit. But a
  // request at a time and one in each period is left to every one of them.
  uint32_t sharers = 1;
};

inline constexpr size_t kMaxDomainBytes = 256;
inline constexpr size_t kMaxDescriptors = 64;
inline constexpr size_t kMaxEntries = 32;
inline constexpr size_t kMaxKeyBytes = 256;
inline constexpr size_t kMaxValueBytes = 4096;
inline constexpr uint64_t kMaxCost = 0xFFFFFFFF;

// INVALID_ARGUMENT that names the first bad field, what it holds and what is
// wanted (`descriptors[2].entries[0].key: empty, want 1 to 256 bytes`), or OK.
// The fields of terms are named as on the wire (`descriptors[2].hits_addend`,
// `descriptors[2].limit.unit`); there are as many terms as descriptors, or
// none. Thread-safe.
[[nodiscard]] absl::Status ValidateRequest(const Request& request);

// Whether `text` is well-formed UTF-8: no overlong forms, no surrogates,
// nothing above U+10FFFF.
[[nodiscard]] bool IsValidUtf8(absl::string_view text);

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_LIMITER_REQUEST_H_
