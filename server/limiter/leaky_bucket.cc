#include "server/limiter/leaky_bucket.h"

#include "server/limiter/gcra.h"

namespace tollgate {
namespace {

class LeakyBucketAlgorithm final : public gcra::GcraAlgorithm {
 public:
  [[nodiscard]] absl::string_view name() const override {
    return "leaky_bucket";
  }

  [[nodiscard]] absl::Status Validate(const Limit& limit) const override {
    return limit.hold_ns() > 0 ? absl::OkStatus()
                               : absl::InvalidArgumentError(
                                     "leaky_bucket wants a max_delay above 0");
  }
};

}  // namespace

const Algorithm& LeakyBucket() {
  static const LeakyBucketAlgorithm algorithm;
  return algorithm;
}

}  // namespace tollgate
