#ifndef TOLLGATE_SERVER_RPC_EVENT_H_
#define TOLLGATE_SERVER_RPC_EVENT_H_

namespace tollgate {

// What waits on a completion queue; its address is the tag.
class Event {
 public:
  virtual ~Event() = default;
  // Runs on the queue's thread.
  virtual void On(bool ok) = 0;
};

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_RPC_EVENT_H_
