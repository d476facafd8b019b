#ifndef TOLLGATE_SERVER_REDIS_SCRIPT_REQUEST_H_
#define TOLLGATE_SERVER_REDIS_SCRIPT_REQUEST_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/limiter/algorithm.h"
#include "server/limiter/limit.h"
#include "server/redis/script_runner.h"

// What bucket_take.lua is asked, and what it answers. Plain values.
namespace tollgate::redis {

// A bucket by its key in Redis.
struct ScriptKey {
  std::string name;
  const Algorithm* algorithm = nullptr;
  Limit limit;
};

// What is asked of a bucket. Capitals are enforced: their refusal stops all.
enum class ScriptAskKind : char {
  kTake = 'T',
  kShadowTake = 't',
  kLook = 'L',  // refuses as a take would, takes nothing
  kShadowLook = 'l',
  kRefund = 'R',  // last, whatever became of the others
};

inline constexpr size_t kNoKey = static_cast<size_t>(-1);

struct ScriptAsk {
  ScriptAskKind kind = ScriptAskKind::kTake;
  size_t key = 0;           // of ScriptRequest::keys
  size_t penalty = kNoKey;  // the bucket that counts the key's refusals
  // Asks that follow each other and share a number above 0 are all or nothing
  // on their own, and stop nobody: limits of one quota_mode descriptor.
  uint32_t group = 0;
  Ask ask;
  int64_t taken_at_ns = 0;  // of kRefund
};

// A bucket that is kept under another limit: its text, and its state carried
// over to the limit of its key.
struct CarriedOver {
  size_t key = 0;
  std::string was;
  std::string becomes;
};

struct ScriptRequest {
  bool takes = false;           // else every ask only looks
  bool writes = false;          // penalties and refunds count
  bool has_all_quotas = false;  // no other run has groups of this request
  std::vector<ScriptKey> keys;
  std::vector<ScriptAsk> asks;
  std::vector<CarriedOver> carried_over;
};

// ARGV[1] of the script, a MessagePack array.
[[nodiscard]] std::string Pack(const ScriptRequest& request);

struct ScriptAnswer {
  int64_t now_ns = 0;
  // 't', 'r', 'b' or '-' for each ask; empty where some bucket is kept under
  // another limit, and nothing was done.
  std::string marks;
  std::vector<std::string> states;  // before, for each key; "" where none was
  struct Other {
    size_t key = 0;
    std::string text;
  };
  std::vector<Other> others;
};

// INTERNAL if the reply is not one of the script to such a request.
[[nodiscard]] absl::StatusOr<ScriptAnswer> Unpack(const ScriptRequest& request,
                                                  const Reply& reply);

}  // namespace tollgate::redis

#endif  // TOLLGATE_SERVER_REDIS_SCRIPT_REQUEST_H_
