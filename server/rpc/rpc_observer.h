#ifndef TOLLGATE_SERVER_RPC_RPC_OBSERVER_H_
#define TOLLGATE_SERVER_RPC_RPC_OBSERVER_H_

#include <cstdint>

namespace tollgate {

// Told of every call. Called on the thread that answers, under no lock, so it
// must be fast and thread-safe.
class RpcObserver {
 public:
  virtual ~RpcObserver() = default;
  virtual void OnArrival() = 0;
  // The call's answer has left, or its peer has. Once for each OnArrival.
  virtual void OnFinish(int64_t duration_ns) = 0;
  // A request was not decided: its deadline had passed, too many calls were in
  // flight, or calls waited too long for a thread.
  virtual void OnExpired() = 0;
  virtual void OnOverload() = 0;
  virtual void OnLongQueue() = 0;
  // A request was outside the bounds of the proto.
  virtual void OnInvalid() = 0;
  // A client began (+1) or ceased (-1) to watch the policy.
  virtual void OnWatchers(int change) = 0;
};

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_RPC_RPC_OBSERVER_H_
