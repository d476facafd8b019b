#ifndef TOLLGATE_SERVER_STATE_BLOCK_H_
#define TOLLGATE_SERVER_STATE_BLOCK_H_

#include <cstdint>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/base/keyed_hash.h"
#include "server/limiter/registry.h"
#include "server/limiter/restorer.h"
#include "server/limiter/saved_buckets.h"

namespace tollgate::state {

// Makes the bytes of blocks. A block stands alone: its payload has the limits
// that its buckets are of, by name, and then the buckets, so that one that is
// damaged takes no other with it. Thread-compatible.
//
//   limits   a varint: how many; for each domain, rule, slot and algorithm
//            (size and bytes), and tokens, burst, period and hold (varints)
//   buckets  fingerprint 16, varints: the number of its limit in this block,
//            how many numbers it has; and these, signed
class BlockBuilder {
 public:
  // `registry` must outlive this.
  explicit BlockBuilder(const Registry& registry) : registry_(registry) {}

  // Adds buckets that are all as of the same instant as the block.
  void Add(const SavedBuckets& buckets);

  // Whether it is large enough, about a megabyte.
  [[nodiscard]] bool is_full() const;
  [[nodiscard]] uint32_t buckets() const { return count_; }

  // The block, whole, as of `at_ns`; the next one is empty.
  [[nodiscard]] std::string Finish(int64_t at_ns);

 private:
  uint32_t IndexOf(uint32_t limit_id);

  const Registry& registry_;
  absl::flat_hash_map<uint32_t, uint32_t> index_;  // by number in the registry
  std::string limits_;
  std::string bytes_;  // of the buckets
  uint32_t count_ = 0;
};

// What a block has, in its order. A Limit that cannot exist is not told, and
// its buckets are told as of no limit.
class BlockVisitor {
 public:
  virtual ~BlockVisitor() = default;
  // The names are the block's own. Called before any bucket.
  virtual void OnLimit(uint32_t index, const SavedLimit& limit) = 0;
  // `index` may be any number.
  virtual void OnBucket(uint64_t index, const Fingerprint& fingerprint,
                        absl::Span<const int64_t> numbers) = 0;
};

// False if the payload ends too early or says something else than a builder
// would; then what was told before holds.
[[nodiscard]] bool VisitBlock(absl::string_view payload, uint32_t buckets,
                              BlockVisitor& visitor);

}  // namespace tollgate::state

#endif  // TOLLGATE_SERVER_STATE_BLOCK_H_
