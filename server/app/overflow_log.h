#ifndef TOLLGATE_SERVER_APP_OVERFLOW_LOG_H_
#define TOLLGATE_SERVER_APP_OVERFLOW_LOG_H_

#include <cstdint>
#include <string>

#include "absl/time/time.h"
#include "server/base/periodic_thread.h"
#include "server/limiter/limiter.h"
#include "server/metrics/metrics.h"

namespace tollgate {

// What to say of keys that shared overflow buckets, and when to look again. A
// plain value.
struct OverflowNotice {
  std::string line;  // empty: nothing
  absl::Duration pause;
};

// `count` requests shared one so far, and `*said` when it was last said, which
// is moved. Says something at most once a minute.
[[nodiscard]] OverflowNotice NoticeOverflow(uint64_t count, size_t max_buckets,
                                            uint64_t* said);

// Warns in the log, from a thread of its own, while keys share overflow
// buckets. Thread-safe.
class OverflowLog {
 public:
  // Both must outlive this.
  OverflowLog(const Limiter& limiter, const Metrics& metrics);

 private:
  PeriodicThread thread_;
};

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_APP_OVERFLOW_LOG_H_
