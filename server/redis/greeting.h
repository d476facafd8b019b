#ifndef TOLLGATE_SERVER_REDIS_GREETING_H_
#define TOLLGATE_SERVER_REDIS_GREETING_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "server/redis/redis_options.h"
#include "server/redis/reply_reader.h"

namespace tollgate::redis {

// What ROLE answered: true unless it says that the server is a replica, since
// a user may not be allowed to ask.
[[nodiscard]] bool SaysPrimary(const Answer& role);

// What is said first on a connection: logs in, loads the scripts, asks what the
// server is, and runs a script to see that it would. All of it is sent at once;
// the answers are judged as they come. Thread-compatible.
class Greeting {
 public:
  // Both must outlive it.
  Greeting(const RedisOptions& options, absl::Span<const std::string> scripts);

  // Appends the commands; returns how many there are.
  size_t AppendTo(std::string& out) const;

  // Judges the next answer. FAILED_PRECONDITION, with what Redis said, if the
  // server cannot be used.
  absl::Status Take(Answer answer);

  // Once all answers are taken:
  [[nodiscard]] bool is_primary() const { return is_primary_; }
  // The digest of each script.
  [[nodiscard]] const std::vector<std::string>& digests() const {
    return digests_;
  }
  // What CLUSTER SLOTS said; nothing if the server is of no cluster, or need
  // not be.
  [[nodiscard]] const std::optional<Reply>& slots() const { return slots_; }

 private:
  enum class Step { kLogin, kLoad, kRole, kSlots, kTry, kDone };

  void Skip();  // to the next step that there is
  absl::Status TakeDigest(const Answer& answer);
  absl::Status TakeSlots(Answer answer);

  const RedisOptions& options_;
  const absl::Span<const std::string> scripts_;
  Step step_ = Step::kLogin;
  bool is_primary_ = true;
  std::vector<std::string> digests_;
  std::optional<Reply> slots_;
};

}  // namespace tollgate::redis

#endif  // TOLLGATE_SERVER_REDIS_GREETING_H_
