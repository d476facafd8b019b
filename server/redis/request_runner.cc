#include "server/redis/request_runner.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/redis/state_text.h"

namespace tollgate::redis {
namespace {

// Each time another process has changed a bucket's limit in between.
constexpr int kMaxAttempts = 5;

bool OnlyRefunds(const ScriptRequest& request, size_t key) {
  bool refunds = false;
  for (const ScriptAsk& ask : request.asks) {
    if (ask.key == key && ask.kind != ScriptAskKind::kRefund) return false;
    refunds |= ask.key == key;
  }
  return refunds;
}

absl::Status CarryOver(const ScriptAnswer::Other& other, int64_t now_ns,
                       ScriptRequest& request) {
  ScriptKey& key = request.keys[other.key];
  const absl::string_view text = other.text;
  const size_t space = text.find(' ');
  const absl::StatusOr<Limit> kept = ParseLimitText(text.substr(0, space));
  if (!kept.ok()) return kept.status();
  if (OnlyRefunds(request, other.key)) {
    key.limit = *kept;
    for (ScriptAsk& ask : request.asks) {
      if (ask.key != other.key) continue;
      ask.ask.cost = std::min(ask.ask.cost, key.algorithm->Capacity(*kept));
    }
    return absl::OkStatus();
  }
  absl::StatusOr<LooseBucket> bucket =
      ReadState(*key.algorithm, *kept, text.substr(space + 1), now_ns);
  if (!bucket.ok()) return bucket.status();
  bucket->CarryOver(key.limit);
  request.carried_over.push_back({other.key, other.text, WriteState(*bucket)});
  return absl::OkStatus();
}

}  // namespace

struct RequestRunner::Attempt {
  ScriptRequest request;
  int64_t deadline_ns;
  Done done;
  int count = 0;
};

void RequestRunner::Run(ScriptRequest request, int64_t deadline_ns, Done done) {
  Run(std::make_shared<Attempt>(
      Attempt{std::move(request), deadline_ns, std::move(done)}));
}

void RequestRunner::Run(std::shared_ptr<Attempt> attempt) {
  ScriptRun run;
  run.script = kTakeScriptNumber;
  for (const ScriptKey& key : attempt->request.keys) {
    run.keys.push_back(key.name);
  }
  run.args.push_back(Pack(attempt->request));
  run.deadline_ns = attempt->deadline_ns;
  ++attempt->count;
  run.done = [this, attempt = std::move(attempt)](absl::StatusOr<Reply> reply) {
    Hear(attempt, std::move(reply));
  };
  Run(std::move(run));
}

void RequestRunner::Run(ScriptRun run) {
  if (closing_) {
    run.done(absl::UnavailableError("redis: not connected: the server stops"));
    return;
  }
  runner_->Run(std::move(run));
}

void RequestRunner::Hear(std::shared_ptr<Attempt> attempt,
                         absl::StatusOr<Reply> reply) {
  ScriptRequest& request = attempt->request;
  absl::StatusOr<ScriptAnswer> answer =
      reply.ok() ? Unpack(request, *reply) : reply.status();
  if (!answer.ok() || answer->others.empty()) {
    return attempt->done(std::move(answer), std::move(request));
  }
  request.carried_over.clear();
  for (const ScriptAnswer::Other& other : answer->others) {
    const absl::Status status = CarryOver(other, answer->now_ns, request);
    if (status.ok()) continue;
    return attempt->done(absl::FailedPreconditionError(absl::StrCat(
                             "the value at ", request.keys[other.key].name,
                             " is no bucket of Tollgate: ", status.message())),
                         std::move(request));
  }
  if (attempt->count == kMaxAttempts) {
    return attempt->done(
        absl::AbortedError("others changed the bucket's limit meanwhile"),
        std::move(request));
  }
  Run(std::move(attempt));
}

bool DidNotRun(const absl::Status& status) {
  return absl::IsFailedPrecondition(status) || absl::IsAborted(status) ||
         (absl::IsUnavailable(status) &&
          !absl::StrContains(status.message(), "connection lost"));
}

}  // namespace tollgate::redis
