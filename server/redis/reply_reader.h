#ifndef TOLLGATE_SERVER_REDIS_REPLY_READER_H_
#define TOLLGATE_SERVER_REDIS_REPLY_READER_H_

#include <cstddef>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/redis/script_runner.h"

struct redisReader;

namespace tollgate::redis {

// What came back for one command. An error's text is in `reply.text`.
struct Answer {
  bool is_error = false;
  Reply reply;
};

// Cuts what a server sends into answers, whatever it sends: a protocol error,
// or an answer beyond the bounds, is a status, after which the reader is of no
// more use. An answer that holds an error anywhere is that error.
// Thread-compatible.
class ReplyReader {
 public:
  // Of one answer.
  static constexpr size_t kMaxBytes = size_t{4} << 20;
  static constexpr size_t kMaxElements = 200'000;

  ReplyReader();
  ~ReplyReader();
  ReplyReader(const ReplyReader&) = delete;
  ReplyReader& operator=(const ReplyReader&) = delete;

  // More bytes, as they came.
  absl::Status Feed(absl::string_view bytes);

  // The next answer; nothing if it is not whole yet.
  absl::StatusOr<std::optional<Answer>> Next();

 private:
  friend struct ReplyBuilder;
  struct Free {
    void operator()(redisReader* reader) const;
  };

  Answer answer_;        // being built
  size_t elements_ = 0;  // of it so far
  const std::unique_ptr<redisReader, Free> reader_;
};

}  // namespace tollgate::redis

#endif  // TOLLGATE_SERVER_REDIS_REPLY_READER_H_
