#include "server/redis/refund_queue.h"

#include <utility>

#include "absl/time/time.h"

namespace tollgate::redis {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;
constexpr int64_t kAttemptNs = kSecondNs;  // to wait for an answer
constexpr int64_t kGiveUpNs = 5 * kSecondNs;
constexpr absl::Duration kPause = absl::Milliseconds(50);

}  // namespace

RefundQueue::RefundQueue(
    RequestRunner& runner, const Clock& steady_clock,
    absl::AnyInvocable<void(const absl::Status&) const> failed)
    : runner_(runner),
      clock_(steady_clock),
      failed_(std::move(failed)),
      thread_(std::make_unique<PeriodicThread>([this] {
        SendWaiting();
        return kPause;
      })) {}

void RefundQueue::Add(ScriptRequest request) {
  Send({std::move(request), clock_.NowNs() + kGiveUpNs});
}

void RefundQueue::Stop() { thread_.reset(); }

void RefundQueue::Send(Pending pending) {
  ScriptRequest request = std::move(pending.request);
  runner_.Run(std::move(request), clock_.NowNs() + kAttemptNs,
              [this, give_up_ns = pending.give_up_ns](
                  absl::StatusOr<ScriptAnswer> answer, ScriptRequest sent) {
                if (answer.ok()) return;
                Hear(answer.status(), {std::move(sent), give_up_ns});
              });
}

void RefundQueue::Hear(absl::Status status, Pending pending) {
  if (DidNotRun(status) && clock_.NowNs() < pending.give_up_ns) {
    MutexLock lock(mutex_);
    if (waiting_.size() < kMaxWaiting) {
      waiting_.push_back(std::move(pending));
      return;
    }
  }
  failed_(status);
}

void RefundQueue::SendWaiting() {
  std::vector<Pending> waiting;
  {
    MutexLock lock(mutex_);
    waiting.swap(waiting_);
  }
  for (Pending& pending : waiting) Send(std::move(pending));
}

}  // namespace tollgate::redis
