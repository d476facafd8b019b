#ifndef TOLLGATE_SERVER_REDIS_REFUND_QUEUE_H_
#define TOLLGATE_SERVER_REDIS_REFUND_QUEUE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "server/base/clock.h"
#include "server/base/mutex.h"
#include "server/base/periodic_thread.h"
#include "server/redis/request_runner.h"
#include "server/redis/script_request.h"

namespace tollgate::redis {

// Gives back what was taken and is not kept, whether or not anybody still waits
// for the request. What surely did not run is tried again, for a few seconds
// and up to a bounded number. What may have run is not: a token given back
// twice would be admitted twice, one that is lost refills. Thread-safe.
class RefundQueue {
 public:
  // `failed` is told of each refund that is given up. All must outlive it.
  RefundQueue(RequestRunner& runner, const Clock& steady_clock,
              absl::AnyInvocable<void(const absl::Status&) const> failed);

  // `request` has refunds alone.
  void Add(ScriptRequest request);
  // Begins nothing more; before the runner goes.
  void Stop();

 private:
  static constexpr size_t kMaxWaiting = 4096;

  struct Pending {
    ScriptRequest request;
    int64_t give_up_ns = 0;
  };
  void Send(Pending pending);
  void Hear(absl::Status status, Pending pending);
  void SendWaiting();

  RequestRunner& runner_;
  const Clock& clock_;
  const absl::AnyInvocable<void(const absl::Status&) const> failed_;
  Mutex mutex_;
  std::vector<Pending> waiting_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<PeriodicThread> thread_;
};

}  // namespace tollgate::redis

#endif  // TOLLGATE_SERVER_REDIS_REFUND_QUEUE_H_
