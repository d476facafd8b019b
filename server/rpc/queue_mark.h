#ifndef TOLLGATE_SERVER_RPC_QUEUE_MARK_H_
#define TOLLGATE_SERVER_RPC_QUEUE_MARK_H_

#include <cstdint>

#include "absl/time/time.h"
#include "grpcpp/alarm.h"
#include "grpcpp/grpcpp.h"
#include "server/base/clock.h"
#include "server/rpc/event.h"
#include "server/rpc/queue_wait.h"

namespace tollgate {

// Puts marks into a completion queue, since the library does not say how long
// a call has been in it. At most one is there at a time, and none comes up
// while no calls come. Lives on the queue's thread alone. Thread-compatible.
class QueueMark final : public Event {
 public:
  // Both references must outlive the mark, and the queue be drained before
  // this goes. `longest` as QueueWait takes it.
  QueueMark(grpc::ServerCompletionQueue& queue, absl::Duration longest,
            const Clock& steady_clock)
      : queue_(queue), steady_clock_(steady_clock), wait_(longest) {}
  QueueMark(const QueueMark&) = delete;
  QueueMark& operator=(const QueueMark&) = delete;

  // A call has come at `now_ns`. Whether it is to be turned away because those
  // before it have waited too long.
  bool OnArrival(int64_t now_ns) {
    if (!wait_.is_watched()) return false;
    if (!is_put_ && now_ns - put_ns_ >= kPauseNs) Put(now_ns);
    return wait_.is_standing();
  }

  void On(bool) override {
    const int64_t now_ns = steady_clock_.NowNs();
    is_put_ = false;
    wait_.CameUp(put_ns_, now_ns);
    // Until the next one comes up, what comes was there before that.
    if (wait_.is_above()) Put(now_ns);
  }

  // After this none is put.
  void Stop() { is_stopped_ = true; }

 private:
  // Between marks, so that they cost next to nothing.
  static constexpr int64_t kPauseNs = 5'000'000;

  void Put(int64_t now_ns) {
    if (is_stopped_) return;
    is_put_ = true;
    put_ns_ = now_ns;
    alarm_.Set(&queue_, gpr_inf_past(GPR_CLOCK_MONOTONIC), this);
  }

  grpc::ServerCompletionQueue& queue_;
  const Clock& steady_clock_;
  QueueWait wait_;
  bool is_stopped_ = false;
  bool is_put_ = false;
  int64_t put_ns_ = -kPauseNs;
  grpc::Alarm alarm_;  // set while a mark is put
};

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_RPC_QUEUE_MARK_H_
