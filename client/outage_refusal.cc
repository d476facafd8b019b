#include "client/outage_refusal.h"

#include <vector>

namespace tollgate::client {
namespace {

constexpr int64_t kRetryAfterNs = 1'000'000'000;

class OutageRefusalAlgorithm final : public Algorithm {
 public:
  [[nodiscard]] absl::string_view name() const override {
    return "outage_refusal";
  }
  [[nodiscard]] absl::Status Validate(const Limit&) const override {
    return absl::OkStatus();
  }
  // Any cost is refused, none is impossible: the service may grant it.
  [[nodiscard]] uint64_t Capacity(const Limit&) const override {
    return 0xFFFFFFFF;
  }
  Verdict Take(BucketState&, const Limit&, const Ask&,
               int64_t now_ns) const override {
    return Refused(now_ns);
  }
  [[nodiscard]] Verdict Peek(const BucketState&, const Limit&, const Ask&,
                             int64_t now_ns) const override {
    return Refused(now_ns);
  }
  void Refund(BucketState&, const Limit&, const Ask&, int64_t,
              int64_t) const override {}
  [[nodiscard]] bool IsForgettable(const BucketState&, const Limit&,
                                   int64_t) const override {
    return true;
  }
  void Rescale(BucketState&, const Limit&, const Limit&,
               int64_t) const override {}
  // There is nothing to tell: a client keeps no state beyond its process.
  void Save(const BucketState&, const Limit&, int64_t,
            std::vector<int64_t>&) const override {}
  [[nodiscard]] bool Restore(const SavedState&, const Limit&, int64_t,
                             BucketState&) const override {
    return false;
  }

 private:
  static Verdict Refused(int64_t now_ns) {
    Verdict verdict;
    verdict.retry_after_ns = kRetryAfterNs;
    verdict.at_ns = now_ns;
    return verdict;
  }
};

}  // namespace

const Algorithm& OutageRefusal() {
  static const OutageRefusalAlgorithm algorithm;
  return algorithm;
}

}  // namespace tollgate::client
