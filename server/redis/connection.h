#ifndef TOLLGATE_SERVER_REDIS_CONNECTION_H_
#define TOLLGATE_SERVER_REDIS_CONNECTION_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "server/base/clock.h"
#include "server/redis/greeting.h"
#include "server/redis/io_loop.h"
#include "server/redis/job.h"
#include "server/redis/redis_options.h"
#include "server/redis/reply_reader.h"
#include "server/redis/resolver.h"

namespace tollgate::redis {

// One connection to a server. What is sent is answered in order, so a command
// keeps its place in the queue until its answer comes, even if nobody waits for
// it any more. That queue and the bytes not yet written are bounded. Of the
// runner's thread.
class Connection final : public IoLoop::Handler {
 public:
  // Told what happens; may send, close, or do nothing in return, but must not
  // destroy the connection.
  class Events {
   public:
    virtual ~Events() = default;
    // It can be used now; an error closes it, as if the server had said so.
    virtual absl::Status OnGreeted(Connection& connection) = 0;
    virtual void OnAnswer(JobPtr job, Answer answer) = 0;
    virtual void OnTimeout(JobPtr job) = 0;
    virtual void OnSlots(Answer answer) = 0;
    // ROLE was answered, as it is asked from time to time.
    virtual void OnRole(Connection& connection, bool is_primary) = 0;
    // It ended with this job unanswered.
    virtual void OnLost(JobPtr job, const absl::Status& why) = 0;
    // It ended. DEADLINE_EXCEEDED if an answer was owed for too long,
    // UNAVAILABLE if the connection failed, else what the server said.
    virtual void OnClosed(Connection& connection, const absl::Status& why) = 0;
  };
  enum class Form { kDigest, kWhole };

  // All must outlive it.
  Connection(IoLoop& loop, const Clock& clock, const RedisOptions& options,
             absl::Span<const std::string> scripts, Events& events);
  ~Connection() override;

  // Begins to connect and to greet. Once.
  void Open(const Address& address);

  [[nodiscard]] bool is_greeted() const { return state_ == State::kGreeted; }
  [[nodiscard]] bool is_closed() const { return state_ == State::kClosed; }
  [[nodiscard]] const Greeting& greeting() const { return greeting_; }
  // Commands without an answer yet.
  [[nodiscard]] size_t owed() const { return slots_.size(); }
  // When it could be used first; 0 if it never could.
  [[nodiscard]] int64_t greeted_at_ns() const { return greeted_at_ns_; }
  [[nodiscard]] bool CanTake() const;

  // Only if it CanTake. What is sent goes out at the next Flush.
  void Send(JobPtr job, Form form);
  void AskSlots();
  void Flush();

  // Ends what is late; returns when to do so again.
  int64_t Step(int64_t now_ns);

  // Calls OnLost for each job and then OnClosed, at once.
  void Close(const absl::Status& why);

  void OnSocket() override;

 private:
  enum class State { kConnecting, kGreeting, kGreeted, kClosed };
  enum class Kind { kGreeting, kRun, kAsking, kSlots, kRole };
  struct Slot {
    Kind kind;
    int64_t sent_ns;
    JobPtr job;  // of kRun, while somebody waits
  };

  void FinishConnect();
  void Read();
  void TakeAnswer(Answer answer);
  void TakeGreeting(Answer answer);
  void Expect(Kind kind, JobPtr job = nullptr);
  void ExpireJobs(int64_t now_ns);

  IoLoop& loop_;
  const Clock& clock_;
  const RedisOptions& options_;
  const absl::Span<const std::string> scripts_;
  Events& events_;
  Greeting greeting_;
  ReplyReader reader_;
  State state_ = State::kConnecting;
  int fd_ = -1;
  std::string out_;      // to be written
  size_t written_ = 0;   // of it
  bool blocked_ = true;  // until the socket can be written
  std::deque<Slot> slots_;
  int64_t next_deadline_ns_ = kNever;  // none of the jobs' is earlier
  int64_t last_answer_ns_ = 0;
  int64_t greeted_at_ns_ = 0;
};

}  // namespace tollgate::redis

#endif  // TOLLGATE_SERVER_REDIS_CONNECTION_H_
