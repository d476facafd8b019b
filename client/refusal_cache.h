#ifndef TOLLGATE_CLIENT_REFUSAL_CACHE_H_
#define TOLLGATE_CLIENT_REFUSAL_CACHE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/time/time.h"
#include "client/decision.h"
#include "client/request.h"
#include "server/base/keyed_hash.h"
#include "server/base/mutex.h"

namespace tollgate::client {

// Refusals of the service that still stand, so that who is refused again and
// again costs no call. It answers a request only as the service would: the same
// domain and descriptors at the same cost. A lower cost might pass, a higher
// one has to wait longer, and a peek wants to know. It holds kEntries refusals
// at most; the hash has a key of its own, so nobody can aim at others' places.
// Instants are of the client's clock. Thread-safe.
class RefusalCache {
 public:
  static constexpr size_t kEntries = 4096;
  static constexpr size_t kStatuses = 8;

  // `ttl` bounds how long a refusal answers; 0 keeps nothing.
  RefusalCache(absl::Duration ttl, const HashKey& key);

  // What stands for the request's domain and descriptors, under the rules of
  // that version: what was refused under others is not found with it. Reads no
  // more than them; allocates nothing unless they are above half a kilobyte.
  [[nodiscard]] Fingerprint KeyOf(const Request& request,
                                  uint32_t rules_version) const;

  // The refusal that stands at `now_ns`, as a decision whose waits have counted
  // down, or nothing.
  [[nodiscard]] std::optional<Decision> Find(const Fingerprint& key,
                                             uint32_t cost, int64_t now_ns);

  // Keeps what the service answered, if it is a refusal that stands, or
  // impossible. It was asked at `asked_ns`, from which on the refusal stands,
  // and its answer came at `now_ns`, from which on the waits count down: so it
  // is neither kept too long nor are callers sent back too early.
  void Remember(const Fingerprint& key, uint32_t cost, const Decision& decision,
                int64_t asked_ns, int64_t now_ns);

  // Drops what is kept for these descriptors, at any cost: tokens came back.
  void Forget(const Fingerprint& key);

 private:
  static constexpr size_t kShards = 16;
  static constexpr size_t kWays = 4;  // places for one key
  static constexpr size_t kSetsInShard = kEntries / kShards / kWays;

  // What the decision says, without the waits' progress.
  struct Refusal {
    Outcome outcome;
    int64_t received_ns;
    absl::Duration retry_after;
    std::vector<RuleStatus> statuses;
  };
  struct Place {
    Fingerprint key;
    uint32_t cost = 0;
    int64_t until_ns = 0;
    std::shared_ptr<const Refusal> refusal;
  };
  using Set = std::array<Place, kWays>;
  struct Shard {
    Mutex mutex;
    std::vector<Set> sets ABSL_GUARDED_BY(mutex);  // made for its first refusal
  };

  Shard& ShardOf(const Fingerprint& key) {
    return shards_.at(key.hi % kShards);
  }
  static size_t SetOf(const Fingerprint& key) { return key.lo % kSetsInShard; }

  const int64_t ttl_ns_;
  const HashKey hash_key_;
  std::array<Shard, kShards> shards_;
};

}  // namespace tollgate::client

#endif  // TOLLGATE_CLIENT_REFUSAL_CACHE_H_
