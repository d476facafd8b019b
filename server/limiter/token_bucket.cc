#include "server/limiter/token_bucket.h"

#include "server/limiter/gcra.h"

namespace tollgate {
namespace {

class TokenBucketAlgorithm final : public gcra::GcraAlgorithm {
 public:
  [[nodiscard]] absl::string_view name() const override {
    return "token_bucket";
  }

  [[nodiscard]] absl::Status Validate(const Limit& limit) const override {
    return limit.hold_ns() == 0
               ? absl::OkStatus()
               : absl::InvalidArgumentError(
                     "got a max_delay, which token_bucket does not have");
  }
};

}  // namespace

const Algorithm& TokenBucket() {
  static const TokenBucketAlgorithm algorithm;
  return algorithm;
}

}  // namespace tollgate
