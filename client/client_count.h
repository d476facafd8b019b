#ifndef TOLLGATE_CLIENT_CLIENT_COUNT_H_
#define TOLLGATE_CLIENT_CLIENT_COUNT_H_

#include <cstdint>

namespace tollgate::client {

// How many clients share a limit, as far as it can be believed. More are
// believed at once, fewer only after one stream has said so for a while:
// a service that has just started, or starts again and again, does not know
// its clients yet, and each of them would take itself for the only one. Pure:
// time is an argument. Thread-compatible.
class ClientCount {
 public:
  // For how long a stream says less before it is believed.
  static constexpr int64_t kHoldNs = 10'000'000'000;

  // The service says `clients`; 0 counts as 1.
  void Tell(uint32_t clients, int64_t now_ns) {
    if (clients == 0) clients = 1;
    if (clients >= believed_) {
      believed_ = clients;
      fewer_ = false;
    } else if (!fewer_) {
      fewer_ = true;
      fewer_since_ns_ = now_ns;
    } else if (now_ns - fewer_since_ns_ >= kHoldNs) {
      believed_ = clients;
      fewer_ = false;
    }
  }
  // The stream ended.
  void Lose() { fewer_ = false; }

  // 1 or more.
  [[nodiscard]] uint32_t believed() const { return believed_; }

 private:
  uint32_t believed_ = 1;
  bool fewer_ = false;  // the stream says so, since
  int64_t fewer_since_ns_ = 0;
};

}  // namespace tollgate::client

#endif  // TOLLGATE_CLIENT_CLIENT_COUNT_H_
