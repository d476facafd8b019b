#ifndef TOLLGATE_SERVER_NET_STALL_WATCH_H_
#define TOLLGATE_SERVER_NET_STALL_WATCH_H_

namespace tollgate::net {

// Whether the threads that answer are held up: in each of the last kRounds
// rounds of looks, some connection may have stalled them, and no call of any
// connection began. So many floods as there are threads can keep all of these
// busy for seconds before one of them has sent as much as it may. A plain
// value. Thread-compatible.
class StallWatch {
 public:
  static constexpr int kRounds = 10;

  // A round is over: whether a call began, and whether some connection
  // ConnectionGuard::may_stall.
  void EndRound(bool calls_began, bool may_stall) {
    if (calls_began || !may_stall) {
      rounds_ = 0;
    } else if (rounds_ < kRounds) {
      ++rounds_;
    }
  }
  [[nodiscard]] bool stalled() const { return rounds_ == kRounds; }

 private:
  int rounds_ = 0;
};

}  // namespace tollgate::net

#endif  // TOLLGATE_SERVER_NET_STALL_WATCH_H_
