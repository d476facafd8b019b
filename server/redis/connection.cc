#include "server/redis/connection.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "server/redis/command.h"

namespace tollgate::redis {
namespace {

constexpr size_t kMaxOwed = 8192;
constexpr size_t kMaxUnwritten = size_t{4} << 20;
constexpr size_t kKeptBytes = size_t{64} << 10;  // of a buffer that is empty
// A server that is away may take its time over the first answers: the
// connection is what finds out that it is back.
constexpr int64_t kGreetingPatienceNs = 500'000'000;
constexpr int64_t kIdleNs = 1'000'000'000;  // until it is asked how it is

absl::Status Failed(absl::string_view what, int error) {
  return absl::UnavailableError(absl::StrCat(what, ": ", strerror(error)));
}

}  // namespace

Connection::Connection(IoLoop& loop, const Clock& clock,
                       const RedisOptions& options,
                       absl::Span<const std::string> scripts, Events& events)
    : loop_(loop),
      clock_(clock),
      options_(options),
      scripts_(scripts),
      events_(events),
      greeting_(options, scripts) {}

Connection::~Connection() {
  if (fd_ >= 0) ::close(fd_);
}

void Connection::Open(const Address& address) {
  fd_ = ::socket(address.storage.ss_family,
                 SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd_ < 0) return Close(Failed("socket", errno));
  const int on = 1;
  ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  if (::connect(fd_, reinterpret_cast<const sockaddr*>(&address.storage),
                address.size) != 0 &&
      errno != EINPROGRESS) {
    return Close(Failed("connect", errno));
  }
  if (!loop_.Watch(fd_, *this)) return Close(Failed("epoll", errno));
  for (size_t n = greeting_.AppendTo(out_); n > 0; --n) {
    Expect(Kind::kGreeting);
  }
}

bool Connection::CanTake() const {
  return is_greeted() && slots_.size() < kMaxOwed &&
         out_.size() - written_ < kMaxUnwritten;
}

void Connection::Expect(Kind kind, JobPtr job) {
  slots_.push_back({kind, clock_.NowNs(), std::move(job)});
}

void Connection::Send(JobPtr job, Form form) {
  const ScriptRun& run = job->run;
  job->was_asking = job->ask_at.has_value();
  if (job->was_asking) {
    AppendCommand({"ASKING"}, out_);
    Expect(Kind::kAsking);
    job->ask_at.reset();
  }
  if (form == Form::kWhole) {
    job->sent_whole = true;
    AppendScript("EVAL", scripts_[run.script], run.keys, run.args, out_);
  } else {
    AppendScript("EVALSHA", greeting_.digests()[run.script], run.keys, run.args,
                 out_);
  }
  ++job->attempts;
  next_deadline_ns_ = std::min(next_deadline_ns_, run.deadline_ns);
  Expect(Kind::kRun, std::move(job));
}

void Connection::AskSlots() {
  AppendCommand({"CLUSTER", "SLOTS"}, out_);
  Expect(Kind::kSlots);
}

void Connection::Flush() {
  if (blocked_ || is_closed()) return;
  while (written_ < out_.size()) {
    const ssize_t n = ::send(fd_, out_.data() + written_,
                             out_.size() - written_, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      blocked_ = true;
      return loop_.WatchWrites(fd_, *this, true);
    }
    if (n < 0) return Close(Failed("write", errno));
    written_ += static_cast<size_t>(n);
  }
  out_.clear();
  written_ = 0;
  if (out_.capacity() > kKeptBytes) out_.shrink_to_fit();
}

int64_t Connection::Step(int64_t now_ns) {
  if (is_closed()) return kNever;
  // First, so that a run that is late is called late, whatever comes next.
  if (now_ns >= next_deadline_ns_) ExpireJobs(now_ns);
  int64_t next_ns = kNever;
  if (slots_.empty()) {
    next_ns = last_answer_ns_ + kIdleNs;
    if (now_ns >= next_ns) {
      AppendCommand({"ROLE"}, out_);
      Expect(Kind::kRole);
    }
  }
  if (!slots_.empty()) {
    int64_t patience_ns = absl::ToInt64Nanoseconds(options_.stall);
    if (!is_greeted()) patience_ns = std::max(patience_ns, kGreetingPatienceNs);
    next_ns = slots_.front().sent_ns + patience_ns;
    if (now_ns >= next_ns) {
      Close(absl::DeadlineExceededError("does not answer"));
      return kNever;
    }
  }
  return std::min(next_ns, next_deadline_ns_);
}

void Connection::ExpireJobs(int64_t now_ns) {
  next_deadline_ns_ = kNever;
  for (Slot& slot : slots_) {
    if (slot.job == nullptr) continue;
    if (slot.job->run.deadline_ns <= now_ns) {
      events_.OnTimeout(std::move(slot.job));
    } else {
      next_deadline_ns_ =
          std::min(next_deadline_ns_, slot.job->run.deadline_ns);
    }
  }
}

void Connection::Close(const absl::Status& why) {
  if (is_closed()) return;
  state_ = State::kClosed;
  if (fd_ >= 0) {
    loop_.Forget(fd_);
    ::close(std::exchange(fd_, -1));
  }
  out_ = std::string();
  std::deque<Slot> slots;
  slots.swap(slots_);
  for (Slot& slot : slots) {
    if (slot.job != nullptr) events_.OnLost(std::move(slot.job), why);
  }
  events_.OnClosed(*this, why);
}

void Connection::OnSocket() {
  if (state_ == State::kConnecting) FinishConnect();
  if (is_closed()) return;
  if (blocked_) {
    blocked_ = false;
    loop_.WatchWrites(fd_, *this, false);
    Flush();
  }
  if (!is_closed()) Read();
}

void Connection::FinishConnect() {
  int error = 0;
  socklen_t size = sizeof(error);
  ::getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) return Close(Failed("connect", error));
  state_ = State::kGreeting;
}

void Connection::Read() {
  std::array<char, 65536> bytes;
  ssize_t n = ::recv(fd_, bytes.data(), bytes.size(), 0);
  if (n < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK)) {
    return;  // epoll tells again
  }
  if (n < 0) return Close(Failed("read", errno));
  if (n == 0) return Close(absl::UnavailableError("closed by the server"));
  absl::Status fed = reader_.Feed({bytes.data(), static_cast<size_t>(n)});
  if (!fed.ok()) return Close(fed);
  last_answer_ns_ = clock_.NowNs();
  while (!is_closed()) {
    absl::StatusOr<std::optional<Answer>> answer = reader_.Next();
    if (!answer.ok()) return Close(answer.status());
    if (!answer->has_value()) return;
    TakeAnswer(**std::move(answer));
  }
}

void Connection::TakeAnswer(Answer answer) {
  if (slots_.empty()) {
    return Close(absl::DataLossError("a reply that nobody asked for"));
  }
  Slot slot = std::move(slots_.front());
  slots_.pop_front();
  switch (slot.kind) {
    case Kind::kGreeting:
      return TakeGreeting(std::move(answer));
    case Kind::kRun:
      if (slot.job == nullptr) return;
      return events_.OnAnswer(std::move(slot.job), std::move(answer));
    case Kind::kAsking:  // if it was refused, so is what follows
      return;
    case Kind::kSlots:
      return events_.OnSlots(std::move(answer));
    case Kind::kRole:
      return events_.OnRole(*this, SaysPrimary(answer));
  }
}

void Connection::TakeGreeting(Answer answer) {
  const absl::Status status = greeting_.Take(std::move(answer));
  if (!status.ok()) return Close(status);
  if (!slots_.empty()) return;
  state_ = State::kGreeted;
  const absl::Status refused = events_.OnGreeted(*this);
  if (!refused.ok()) return Close(refused);
  greeted_at_ns_ = last_answer_ns_;
}

}  // namespace tollgate::redis
