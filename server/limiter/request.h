#ifndef TOLLGATE_SERVER_LIMITER_REQUEST_H_
#define TOLLGATE_SERVER_LIMITER_REQUEST_H_

#include <cstddef>
#include <cstdint>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace tollgate {

// One fact about a request, such as user = ana.
struct Entry {
  absl::string_view key;
  absl::string_view value;
};

// The entries that describe one request. Where a key occurs twice, rules see
// the first.
using Descriptor = absl::Span<const Entry>;

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
};

inline constexpr size_t kMaxDomainBytes = 256;
inline constexpr size_t kMaxDescriptors = 64;
inline constexpr size_t kMaxEntries = 32;
inline constexpr size_t kMaxKeyBytes = 256;
inline constexpr size_t kMaxValueBytes = 4096;
inline constexpr uint64_t kMaxCost = 0xFFFFFFFF;

// INVALID_ARGUMENT that names the first bad field, what it holds and what is
// wanted (`descriptors[2].entries[0].key: empty, want 1 to 256 bytes`), or OK.
// Thread-safe.
[[nodiscard]] absl::Status ValidateRequest(const Request& request);

// Whether `text` is well-formed UTF-8: no overlong forms, no surrogates,
// nothing above U+10FFFF.
[[nodiscard]] bool IsValidUtf8(absl::string_view text);

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_LIMITER_REQUEST_H_
