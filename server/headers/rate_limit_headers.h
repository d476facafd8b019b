#ifndef TOLLGATE_SERVER_HEADERS_RATE_LIMIT_HEADERS_H_
#define TOLLGATE_SERVER_HEADERS_RATE_LIMIT_HEADERS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/headers/quota.h"

namespace tollgate {

// Which HTTP headers tell a caller its limits.
enum class HeaderProfile {
  kNone,
  // X-RateLimit-Limit, X-RateLimit-Remaining and X-RateLimit-Reset (seconds
  // until the bucket is full) of one limit.
  kLegacy,
  // RateLimit-Policy and RateLimit of the IETF draft 10, as structured fields
  // of RFC 9651: `"per-user";q=100;w=60` and `"per-user";r=40;t=12`.
  kDraft10,
};

// The profile called "none", "legacy" or "draft10", else INVALID_ARGUMENT.
[[nodiscard]] absl::StatusOr<HeaderProfile> ParseHeaderProfile(
    absl::string_view name);

struct HeaderField {
  std::string name;
  std::string value;

  friend bool operator==(const HeaderField&, const HeaderField&) = default;
};

// The most limits that draft10 lists, so that the headers stay below the 4 KiB
// that proxies keep for them; those left out are the least pressing.
inline constexpr size_t kMaxListedQuotas = 8;
// The most bytes of a rule's name in a header.
inline constexpr size_t kMaxHeaderNameBytes = 128;

// The headers that tell `quotas`, in the order they are sent. None if there are
// no quotas.
//
// - A limit is told as its burst over the time in which that fills, the same
//   rate: what remains never exceeds it. For most it is tokens per period.
// - Where the profile has place for one limit, it is the one with the least
//   remaining, the first of equals; but if any refuses, the last that does.
// - draft10 lists every limit as a policy, and what remains of each; once any
//   refuses, of those that refuse alone. `t` is the time until the same request
//   would pass if the limit refuses, else until its bucket is full; it is left
//   out if waiting never helps.
// - With both, a refusal has Retry-After: the longest wait of all that refuse.
//   Waiting exactly that long succeeds if nobody else takes. It is left out if
//   waiting never helps.
//
// Seconds are whole and rounded up.
[[nodiscard]] std::vector<HeaderField> RateLimitHeaders(
    HeaderProfile profile, absl::Span<const Quota> quotas);

// Nanoseconds as whole seconds, rounded up; 0 for what is past.
[[nodiscard]] uint64_t WholeSeconds(int64_t ns);

// `text` as a string of RFC 9651, with its quotes. Such a string holds
// printable ASCII alone, so any other byte, and '%', becomes %XX: different
// texts stay different. A long text is cut to kMaxHeaderNameBytes.
[[nodiscard]] std::string StructuredString(absl::string_view text);

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_HEADERS_RATE_LIMIT_HEADERS_H_
