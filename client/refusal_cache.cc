#include "client/refusal_cache.h"

#include <algorithm>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"

namespace tollgate::client {
namespace {

using Bytes = absl::InlinedVector<char, 512>;

void AppendNumber(size_t number, Bytes& out) {
  for (size_t i = 0; i < sizeof(uint32_t); ++i) {
    out.push_back(static_cast<char>(number >> (8 * i)));
  }
}

// With its length, so that no two requests are the same bytes.
void AppendText(absl::string_view text, Bytes& out) {
  AppendNumber(text.size(), out);
  out.insert(out.end(), text.begin(), text.end());
}

absl::Duration Left(absl::Duration wait, absl::Duration passed) {
  return std::max(wait - passed, absl::ZeroDuration());
}

}  // namespace

RefusalCache::RefusalCache(absl::Duration ttl, const HashKey& key)
    : ttl_ns_(absl::ToInt64Nanoseconds(ttl)), hash_key_(key) {}

Fingerprint RefusalCache::KeyOf(const Request& request,
                                uint32_t rules_version) const {
  if (ttl_ns_ == 0) return {};
  Bytes bytes;
  AppendNumber(rules_version, bytes);
  AppendText(request.domain, bytes);
  for (const Descriptor& descriptor : request.descriptors) {
    AppendNumber(descriptor.size(), bytes);
    for (const Entry& entry : descriptor) {
      AppendText(entry.key, bytes);
      AppendText(entry.value, bytes);
    }
  }
  return KeyedHash(hash_key_, {bytes.data(), bytes.size()});
}

std::optional<Decision> RefusalCache::Find(const Fingerprint& key,
                                           uint32_t cost, int64_t now_ns) {
  if (ttl_ns_ == 0 || cost == 0) return std::nullopt;
  std::shared_ptr<const Refusal> refusal;
  {
    Shard& shard = ShardOf(key);
    MutexLock lock(shard.mutex);
    if (shard.sets.empty()) return std::nullopt;
    for (const Place& place : shard.sets[SetOf(key)]) {
      if (place.key == key && place.cost == cost && place.until_ns > now_ns) {
        refusal = place.refusal;
        break;
      }
    }
  }
  if (refusal == nullptr) return std::nullopt;
  const absl::Duration passed =
      absl::Nanoseconds(now_ns - refusal->received_ns);
  Decision decision;
  decision.allowed = false;
  decision.outcome = refusal->outcome;
  decision.retry_after = Left(refusal->retry_after, passed);
  decision.source = Source::kRefusalCache;
  decision.statuses = refusal->statuses;
  for (RuleStatus& status : decision.statuses) {
    status.retry_after = Left(status.retry_after, passed);
    status.reset_after = Left(status.reset_after, passed);
  }
  return decision;
}

void RefusalCache::Remember(const Fingerprint& key, uint32_t cost,
                            const Decision& decision, int64_t asked_ns,
                            int64_t now_ns) {
  if (ttl_ns_ == 0 || cost == 0) return;
  int64_t stands_ns = 0;
  if (decision.outcome == Outcome::kRefused) {
    stands_ns =
        std::min(ttl_ns_, absl::ToInt64Nanoseconds(decision.stands_for));
  } else if (decision.outcome == Outcome::kImpossible) {
    stands_ns = ttl_ns_;
  }
  if (stands_ns <= 0 || asked_ns + stands_ns <= now_ns) return;
  auto refusal = std::make_shared<Refusal>();
  refusal->outcome = decision.outcome;
  refusal->received_ns = now_ns;
  refusal->retry_after = decision.retry_after;
  for (const RuleStatus& status : decision.statuses) {
    if (status.shadow || status.outcome == Outcome::kAllowed) continue;
    if (refusal->statuses.size() == kStatuses) break;
    refusal->statuses.push_back(status);
  }

  Shard& shard = ShardOf(key);
  MutexLock lock(shard.mutex);
  if (shard.sets.empty()) shard.sets.resize(kSetsInShard);
  Set& set = shard.sets[SetOf(key)];
  // Its own place, or that of the refusal which is over first.
  Place* taken = set.data();
  for (Place& place : set) {
    if (place.key == key && place.cost == cost) {
      taken = &place;
      break;
    }
    if (place.until_ns < taken->until_ns) taken = &place;
  }
  *taken = {key, cost, asked_ns + stands_ns, std::move(refusal)};
}

void RefusalCache::Forget(const Fingerprint& key) {
  Shard& shard = ShardOf(key);
  MutexLock lock(shard.mutex);
  if (shard.sets.empty()) return;
  for (Place& place : shard.sets[SetOf(key)]) {
    if (place.key == key) place = Place();
  }
}

}  // namespace tollgate::client
