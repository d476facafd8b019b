#include "server/limiter/saved_buckets.h"

#include "server/limiter/buckets.h"

namespace tollgate {

bool SaveBuckets(BucketTable& table, const Registry& registry,
                 BucketTable::Cursor& cursor, int64_t at_ns,
                 SavedBuckets& out) {
  constexpr size_t kBuckets = 128;
  // A bucket that owns memory can tell thousands; then the step ends early.
  constexpr size_t kNumbers = 4096;
  out.at_ns = at_ns;
  out.entries.clear();
  out.numbers.clear();
  out.entries.reserve(kBuckets);
  out.numbers.reserve(kNumbers);
  return table.Walk(
      cursor, kBuckets,
      [&](const Fingerprint& fingerprint, const BucketState& state,
          uint32_t limit_id) {
        if (limit_id == 0) return true;  // never decided
        BucketState carried = state;
        CarryOver(registry, /*to_id=*/0, carried, limit_id);
        const LimitVersion& under = registry.Version(limit_id);
        if (under.algorithm->IsForgettable(carried, under.limit, at_ns)) {
          return true;
        }
        const size_t before = out.numbers.size();
        under.algorithm->Save(carried, under.limit, at_ns, out.numbers);
        out.entries.push_back(
            {fingerprint, limit_id,
             static_cast<uint32_t>(out.numbers.size() - before)});
        return out.numbers.size() < kNumbers;
      });
}

}  // namespace tollgate
