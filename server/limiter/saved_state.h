#ifndef TOLLGATE_SERVER_LIMITER_SAVED_STATE_H_
#define TOLLGATE_SERVER_LIMITER_SAVED_STATE_H_

#include <algorithm>
#include <cstdint>

#include "absl/types/span.h"

namespace tollgate {

// A bucket's state as its algorithm tells it to another process: plain numbers,
// each instant as a span after `at_ns`. Whoever reads one believes nothing.
// A plain value; valid while the numbers are.
struct SavedState {
  absl::Span<const int64_t> numbers;
  int64_t at_ns = 0;  // since the Unix epoch

  // The instant `span_ns` after the state was saved. Both may be any number:
  // the result is within what arithmetic on instants bears.
  [[nodiscard]] int64_t After(int64_t span_ns) const {
    return From(at_ns, span_ns);
  }
  // The same for spans that pass by themselves, seen from `now_ns`. The time
  // since the state was saved has passed; if the clock says that it was saved
  // later than now, nobody knows how much has, and none counts.
  [[nodiscard]] int64_t AfterAsOf(int64_t now_ns, int64_t span_ns) const {
    return From(std::min(at_ns, now_ns), span_ns);
  }

 private:
  static int64_t From(int64_t base_ns, int64_t span_ns) {
    constexpr int64_t kLatest = int64_t{1} << 62;
    constexpr int64_t kLongest = int64_t{1} << 61;
    return std::clamp<int64_t>(base_ns, 0, kLatest) +
           std::clamp(span_ns, -kLongest, kLongest);
  }
};

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_LIMITER_SAVED_STATE_H_
