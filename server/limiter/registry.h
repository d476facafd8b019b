#ifndef TOLLGATE_SERVER_LIMITER_REGISTRY_H_
#define TOLLGATE_SERVER_LIMITER_REGISTRY_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/base/mutex.h"
#include "server/limiter/algorithm.h"
#include "server/limiter/limit.h"

namespace tollgate {

// A domain that some rule set has named.
struct DomainId {
  uint32_t index = 0;  // 0, 1, 2, ... in the order of first appearance
  std::string name;
};

// A rule's name that some rule set has used: the same object for as long as the
// registry lives, across reloads, so that counters and answers can point at it.
struct RuleId {
  uint32_t index = 0;  // 0, 1, 2, ... in the order of first appearance
  const DomainId* domain = nullptr;
  std::string name;
};

// A limit as buckets refer to it. Where a reload replaced it, `successor` says
// by what and `replaced_at_ns` when, so that a bucket touched only later still
// carries over what was spent at the moment of the reload.
struct LimitVersion {
  const RuleId* rule = nullptr;
  std::string slot;  // unique among the limits of the rule
  const Algorithm* algorithm = nullptr;
  Limit limit;
  int64_t replaced_at_ns = 0;          // written before `successor`
  std::atomic<uint32_t> successor{0};  // 0: in force
};

// The identities that outlive a rule set: domains, rules, limits. Names and
// limits are added and never removed, about 200 bytes for each that was ever
// seen. Thread-safe; Version() takes no lock.
class Registry {
 public:
  Registry();
  ~Registry();
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  const DomainId* Domain(absl::string_view name);
  const RuleId* Rule(absl::string_view domain, absl::string_view name);

  // The number (1 or more) by which buckets refer to the limit of `rule` at
  // `slot`, a name unique among the limits of the rule. If the slot held
  // another limit until now, that one is replaced at `now_ns`.
  // RESOURCE_EXHAUSTED after 2^24 limits.
  absl::StatusOr<uint32_t> BindLimit(const RuleId& rule, absl::string_view slot,
                                     const Algorithm& algorithm,
                                     const Limit& limit, int64_t now_ns);

  // The number of the limit that `rule` of `domain` has at `slot` now, or had
  // last, under that algorithm; 0 if it never had one.
  [[nodiscard]] uint32_t FindLimit(absl::string_view domain,
                                   absl::string_view rule,
                                   absl::string_view slot,
                                   const Algorithm& algorithm) const;

  // `id` must come from BindLimit.
  [[nodiscard]] const LimitVersion& Version(uint32_t id) const {
    return chunks_[id / kChunk].load(std::memory_order_acquire)[id % kChunk];
  }

  // Rules and domains named so far; their indexes are below these.
  [[nodiscard]] uint32_t rule_count() const;
  [[nodiscard]] uint32_t domain_count() const;

 private:
  static constexpr uint32_t kChunk = 4096;
  static constexpr uint32_t kChunks = 4096;
  struct SlotKey {
    uint32_t rule;
    std::string slot;
    const Algorithm* algorithm;
    friend bool operator==(const SlotKey&, const SlotKey&) = default;
    template <typename H>
    friend H AbslHashValue(H state, const SlotKey& k) {
      return H::combine(std::move(state), k.rule, k.slot, k.algorithm);
    }
  };

  const DomainId* DomainLocked(absl::string_view name)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable Mutex mutex_;
  absl::flat_hash_map<std::string, std::unique_ptr<DomainId>> domains_
      ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<std::pair<uint32_t, std::string>, std::unique_ptr<RuleId>>
      rules_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<SlotKey, uint32_t> current_ ABSL_GUARDED_BY(mutex_);
  uint32_t next_id_ ABSL_GUARDED_BY(mutex_) = 1;
  // Grown under mutex_, read without it: a chunk never moves.
  std::array<std::atomic<LimitVersion*>, kChunks> chunks_{};
};

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_LIMITER_REGISTRY_H_
