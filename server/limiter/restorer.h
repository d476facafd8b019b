#ifndef TOLLGATE_SERVER_LIMITER_RESTORER_H_
#define TOLLGATE_SERVER_LIMITER_RESTORER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "server/base/keyed_hash.h"
#include "server/limiter/algorithm.h"
#include "server/limiter/bucket_table.h"
#include "server/limiter/limit.h"
#include "server/limiter/registry.h"
#include "server/limiter/rule_set.h"

namespace tollgate {

// A limit as another process knew it, by names: see LimitVersion.
struct SavedLimit {
  absl::string_view domain;
  absl::string_view rule;
  absl::string_view slot;
  absl::string_view algorithm;
  Limit limit;
};

// Puts buckets that another process saved, under the same hash key, back into
// a table. It believes nothing: whatever it is told, no bucket gets more than
// its limit, and none waits longer than an empty one would. What is spent stays
// spent where a limit changed in between. Thread-compatible.
class Restorer {
 public:
  enum class Outcome {
    kRestored,
    kFull,     // full again by now, so there is nothing to restore
    kInvalid,  // no algorithm ever said that
    kNoRoom,   // the table has as many buckets as it may
  };

  // Where the buckets of one saved limit go.
  struct Target {
    const Algorithm* algorithm = nullptr;
    Limit saved;
    uint32_t limit_id = 0;
    // Of buckets that keys share: where the first of the rule lies.
    std::optional<Fingerprint> shared;
  };

  // The tables, of keys' own buckets and of those that they share, must outlive
  // this, as must the registry, to which `rules` are bound. Restored are the
  // buckets of these rules, as of `now_ns`.
  Restorer(std::shared_ptr<const RuleSet> rules, Registry& registry,
           BucketTable& own, BucketTable& overflow, int64_t now_ns);

  // Nothing if no rule has such buckets: it is gone, or has another algorithm
  // or no penalty now.
  std::optional<Target> Find(const SavedLimit& limit);

  // A bucket that was there before is replaced.
  Outcome Restore(const Target& target, const Fingerprint& fingerprint,
                  const SavedState& saved);

 private:
  const std::shared_ptr<const RuleSet> rules_;
  Registry& registry_;
  BucketTable& own_;
  BucketTable& overflow_;
  const int64_t now_ns_;
  // By domain and name, which the rules own.
  absl::flat_hash_map<std::pair<absl::string_view, absl::string_view>,
                      const BoundRule*>
      by_name_;
  uint32_t bound_ = 0;  // limits that no rule has any more
};

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_LIMITER_RESTORER_H_
