#ifndef TOLLGATE_SERVER_LIMITER_SAVED_BUCKETS_H_
#define TOLLGATE_SERVER_LIMITER_SAVED_BUCKETS_H_

#include <cstdint>
#include <vector>

#include "server/base/keyed_hash.h"
#include "server/limiter/bucket_table.h"
#include "server/limiter/registry.h"

namespace tollgate {

// Some buckets as their algorithms tell them: see SavedState. A plain value.
struct SavedBuckets {
  struct Entry {
    Fingerprint fingerprint;
    uint32_t limit_id = 0;  // in the registry of the limiter that saved it
    uint32_t count = 0;     // of its numbers
  };

  int64_t at_ns = 0;
  std::vector<Entry> entries;
  std::vector<int64_t> numbers;  // of all entries, one after the other
};

// Replaces what `out` holds by the next buckets of the walk, about a hundred,
// as of `at_ns`; those that are full then are left out. False once the walk is
// over. Each stripe is held for a bounded time, and nothing is allocated under
// its lock as a rule if `out` is used again. Thread-safe, but for the cursor.
bool SaveBuckets(BucketTable& table, const Registry& registry,
                 BucketTable::Cursor& cursor, int64_t at_ns, SavedBuckets& out);

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_LIMITER_SAVED_BUCKETS_H_
