#ifndef TOLLGATE_SERVER_REDIS_BUCKET_KEY_H_
#define TOLLGATE_SERVER_REDIS_BUCKET_KEY_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"
#include "server/limiter/plan.h"

// The names of buckets in Redis. Thread-safe.
namespace tollgate::redis {

// Bytes of a key's values beyond which their digest stands for them.
inline constexpr size_t kMaxValueBytes = 128;
// Of a whole key: domain and rule are bounded, escaped or not.
inline constexpr size_t kMaxKeyBytes = 2048;

// Such as `tollgate:{shop|per-user|ana}:token_bucket`, with `:1` at the end for
// the rule's second limit. In braces are the domain, the rule and the values of
// its key, with names (`ip=192.0.2.1`) where a rule has a choice of entries; so
// all buckets of one rule and key lie on one node of a cluster. What has a
// meaning there, or none on a terminal, is escaped as %XX, so that different
// buckets never share a name. Buckets of another algorithm are others.
[[nodiscard]] std::string BucketKey(const PlannedBucket& bucket,
                                    const Request& request);

// Whether `key` could be a BucketKey of `algorithm`.
[[nodiscard]] bool IsBucketKey(absl::string_view key,
                               absl::string_view algorithm);

}  // namespace tollgate::redis

#endif  // TOLLGATE_SERVER_REDIS_BUCKET_KEY_H_
