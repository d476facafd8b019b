#include "client/cli/latency_histogram.h"

#include <algorithm>
#include <bit>

namespace tollgate::cli {
namespace {

constexpr int kBits = 5;                                 // of precision
constexpr uint64_t kExact = uint64_t{1} << (kBits + 1);  // below: one each

// Above kExact, a value is its highest bit and the five bits below that.
size_t BucketOf(uint64_t value) {
  if (value < kExact) return value;
  const int shift = std::bit_width(value) - kBits - 1;
  return (static_cast<size_t>(shift) << kBits) + (value >> shift);
}

// The largest value of a bucket.
uint64_t TopOf(size_t bucket) {
  if (bucket < kExact) return bucket;
  const size_t shift = (bucket >> kBits) - 1;
  const uint64_t high = (bucket & ((1U << kBits) - 1)) + (1U << kBits);
  return ((high + 1) << shift) - 1;
}

}  // namespace

void LatencyHistogram::Add(int64_t nanoseconds) {
  ++counts_.at(BucketOf(static_cast<uint64_t>(nanoseconds)));
  ++count_;
  max_ = std::max(max_, nanoseconds);
}

void LatencyHistogram::Merge(const LatencyHistogram& other) {
  for (size_t i = 0; i < kBuckets; ++i) counts_.at(i) += other.counts_.at(i);
  count_ += other.count_;
  max_ = std::max(max_, other.max_);
}

int64_t LatencyHistogram::Quantile(uint32_t per_mille) const {
  uint64_t wanted = count_ / 1000 * per_mille;
  wanted += (count_ % 1000 * per_mille + 999) / 1000;  // rounded up
  uint64_t seen = 0;
  for (size_t i = 0; i < kBuckets; ++i) {
    seen += counts_.at(i);
    if (seen >= wanted && counts_.at(i) > 0) {
      return std::min(static_cast<int64_t>(TopOf(i)), max_);
    }
  }
  return max_;
}

}  // namespace tollgate::cli
