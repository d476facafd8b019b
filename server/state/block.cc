#include "server/state/block.h"

#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "server/state/state_format.h"

namespace tollgate::state {
namespace {

// A bucket of a sliding log has two for each of at most 10,000 admissions, one
// of concurrency three for each slot.
constexpr uint64_t kMaxNumbers = 30'000;

void AppendText(absl::string_view text, std::string& out) {
  AppendVarint(text.size(), out);
  absl::StrAppend(&out, text);
}

std::optional<Limit> ReadLimit(Decoder& in) {
  const uint64_t tokens = in.Varint();
  const uint64_t period_ns = in.Varint();
  const uint64_t burst = in.Varint();
  const uint64_t hold_ns = in.Varint();
  constexpr uint64_t kLongest = uint64_t{1} << 62;
  if (period_ns > kLongest || hold_ns > kLongest) return std::nullopt;
  const absl::StatusOr<Limit> limit = Limit::Create(
      tokens, absl::Nanoseconds(static_cast<int64_t>(period_ns)), burst);
  if (!limit.ok()) return std::nullopt;
  const absl::StatusOr<Limit> holding =
      limit->WithHold(absl::Nanoseconds(static_cast<int64_t>(hold_ns)));
  if (!holding.ok()) return std::nullopt;
  return *holding;
}

void VisitLimits(Decoder& in, BlockVisitor& visitor) {
  const uint64_t count = in.Varint();
  for (uint64_t i = 0; i < count && in.ok(); ++i) {
    SavedLimit limit;
    limit.domain = in.Bytes(in.Varint());
    limit.rule = in.Bytes(in.Varint());
    limit.slot = in.Bytes(in.Varint());
    limit.algorithm = in.Bytes(in.Varint());
    const std::optional<Limit> amount = ReadLimit(in);
    if (!in.ok() || !amount.has_value()) continue;
    limit.limit = *amount;
    visitor.OnLimit(static_cast<uint32_t>(i), limit);
  }
}

}  // namespace

void BlockBuilder::Add(const SavedBuckets& buckets) {
  const int64_t* number = buckets.numbers.data();
  for (const SavedBuckets::Entry& entry : buckets.entries) {
    AppendFixed64(entry.fingerprint.hi, bytes_);
    AppendFixed64(entry.fingerprint.lo, bytes_);
    AppendVarint(IndexOf(entry.limit_id), bytes_);
    AppendVarint(entry.count, bytes_);
    for (uint32_t i = 0; i < entry.count; ++i) AppendSigned(*number++, bytes_);
    ++count_;
  }
}

uint32_t BlockBuilder::IndexOf(uint32_t limit_id) {
  const auto [it, is_new] =
      index_.try_emplace(limit_id, static_cast<uint32_t>(index_.size()));
  if (is_new) {
    const LimitVersion& version = registry_.Version(limit_id);
    AppendText(version.rule->domain->name, limits_);
    AppendText(version.rule->name, limits_);
    AppendText(version.slot, limits_);
    AppendText(version.algorithm->name(), limits_);
    AppendVarint(version.limit.tokens(), limits_);
    AppendVarint(static_cast<uint64_t>(version.limit.period_ns()), limits_);
    AppendVarint(version.limit.burst(), limits_);
    AppendVarint(static_cast<uint64_t>(version.limit.hold_ns()), limits_);
  }
  return it->second;
}

bool BlockBuilder::is_full() const {
  constexpr size_t kEnough = 1 << 20;
  return limits_.size() + bytes_.size() >= kEnough;
}

std::string BlockBuilder::Finish(int64_t at_ns) {
  std::string payload;
  payload.reserve(limits_.size() + bytes_.size() + 10);
  AppendVarint(index_.size(), payload);
  absl::StrAppend(&payload, limits_, bytes_);
  std::string block = EncodeBlock(count_, at_ns, payload);
  index_.clear();
  limits_.clear();
  bytes_.clear();
  count_ = 0;
  return block;
}

bool VisitBlock(absl::string_view payload, uint32_t buckets,
                BlockVisitor& visitor) {
  Decoder in(payload);
  VisitLimits(in, visitor);
  std::vector<int64_t> numbers;
  for (uint32_t i = 0; i < buckets && in.ok(); ++i) {
    Fingerprint fingerprint;
    fingerprint.hi = in.Fixed64();
    fingerprint.lo = in.Fixed64();
    const uint64_t index = in.Varint();
    const uint64_t count = in.Varint();
    if (count > kMaxNumbers) return false;
    numbers.clear();
    for (uint64_t n = 0; n < count && in.ok(); ++n) {
      numbers.push_back(in.Signed());
    }
    if (in.ok()) visitor.OnBucket(index, fingerprint, numbers);
  }
  return in.ok() && in.left() == 0;
}

}  // namespace tollgate::state
