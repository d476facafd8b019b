#include "server/limiter/sweeper.h"

#include <algorithm>

namespace tollgate {

absl::Duration SweepPause(size_t buckets, const SweeperOptions& options) {
  const auto steps =
      static_cast<int64_t>((buckets + options.step - 1) / options.step);
  return std::clamp(options.pass / std::max<int64_t>(steps, 1),
                    absl::Milliseconds(1), options.pass);
}

Sweeper::Sweeper(Limiter& limiter, SweeperOptions options)
    : thread_([&limiter, options] {
        limiter.Sweep(options.step);
        return SweepPause(limiter.bucket_count(), options);
      }) {}

}  // namespace tollgate
