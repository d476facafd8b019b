#ifndef TOLLGATE_SERVER_STATE_STATE_TRANSFER_H_
#define TOLLGATE_SERVER_STATE_STATE_TRANSFER_H_

#include <cstddef>
#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/base/clock.h"
#include "server/base/keyed_hash.h"
#include "server/limiter/limiter.h"
#include "server/state/state_format.h"

namespace tollgate::state {

using Sink = absl::FunctionRef<absl::Status(absl::string_view bytes)>;

// Writes a whole state file to `sink`, in pieces of about a megabyte, while
// decisions go on; a bucket that changes meanwhile is in it as it was at some
// moment of that. `clock` is the limiter's, `key` its hash key. Returns how
// many buckets it has, or the sink's error.
absl::StatusOr<uint64_t> WriteState(Limiter& limiter, const Clock& clock,
                                    const HashKey& key, Sink sink);

// Reads up to `size` bytes from `offset` on; fewer at the end, or where the
// file cannot be read.
using Source =
    absl::FunctionRef<size_t(uint64_t offset, char* out, size_t size)>;

[[nodiscard]] absl::StatusOr<Header> ReadHeader(Source source);

// What became of the buckets of a file.
struct RestoreReport {
  uint64_t restored = 0;
  uint64_t rules = 0;        // that these are of
  uint64_t full = 0;         // again by now, so there was nothing to restore
  uint64_t other_rules = 0;  // that no rule in force has
  uint64_t invalid = 0;      // that say what no algorithm says
  uint64_t no_room = 0;      // for, since the table has as many as it may
  uint64_t bad_blocks = 0;   // damaged, or not a block's bytes at all
  bool complete = false;     // its end was there
};

// Restores what is usable of a file whose header is good. Takes memory for one
// block at a time, and time in proportion to the file whatever is in it.
RestoreReport RestoreState(Source source, Limiter& limiter);

}  // namespace tollgate::state

#endif  // TOLLGATE_SERVER_STATE_STATE_TRANSFER_H_
