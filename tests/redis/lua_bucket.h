#ifndef TOLLGATE_TESTS_REDIS_LUA_BUCKET_H_
#define TOLLGATE_TESTS_REDIS_LUA_BUCKET_H_

#include <hiredis/hiredis.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "tests/redis/golden_case.h"

namespace tollgate::redis {

// Does things to buckets by the real script in a real Redis, at instants that
// the test chooses.
class LuaBucket {
 public:
  explicit LuaBucket(int port);

  // What becomes of each of them, each on its own. Fails the test where a
  // reply is not the script's.
  std::vector<GoldenOutcome> OutcomesOf(absl::Span<const GoldenCase> cases);

 private:
  struct Free {
    void operator()(redisContext* context) const { redisFree(context); }
    void operator()(redisReply* reply) const { freeReplyObject(reply); }
  };
  using ReplyPtr = std::unique_ptr<redisReply, Free>;

  void Send(const std::vector<std::string>& words);
  ReplyPtr Receive();
  void Ask(const GoldenCase& c);
  GoldenOutcome Hear(const GoldenCase& c);

  std::unique_ptr<redisContext, Free> context_;
  std::string sha_;
};

}  // namespace tollgate::redis

#endif  // TOLLGATE_TESTS_REDIS_LUA_BUCKET_H_
