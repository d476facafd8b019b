#include "server/state/state_transfer.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "server/state/block.h"

namespace tollgate::state {
namespace {

// Puts the buckets of one block into the limiter.
class BlockRestorer final : public BlockVisitor {
 public:
  BlockRestorer(Restorer& restorer, const Registry& registry, int64_t at_ns,
                RestoreReport& report,
                absl::flat_hash_set<const RuleId*>& rules)
      : restorer_(restorer),
        registry_(registry),
        at_ns_(at_ns),
        report_(report),
        rules_(rules) {}

  void OnLimit(uint32_t index, const SavedLimit& limit) override {
    targets_.resize(index + size_t{1});
    targets_[index] = restorer_.Find(limit);
  }

  void OnBucket(uint64_t index, const Fingerprint& fingerprint,
                absl::Span<const int64_t> numbers) override {
    if (index >= targets_.size() || !targets_[index].has_value()) {
      ++report_.other_rules;
      return;
    }
    const Restorer::Target& target = *targets_[index];
    switch (restorer_.Restore(target, fingerprint, {numbers, at_ns_})) {
      case Restorer::Outcome::kRestored:
        ++report_.restored;
        rules_.insert(registry_.Version(target.limit_id).rule);
        break;
      case Restorer::Outcome::kFull:
        ++report_.full;
        break;
      case Restorer::Outcome::kInvalid:
        ++report_.invalid;
        break;
      case Restorer::Outcome::kNoRoom:
        ++report_.no_room;
        break;
    }
  }

 private:
  Restorer& restorer_;
  const Registry& registry_;
  const int64_t at_ns_;
  RestoreReport& report_;
  absl::flat_hash_set<const RuleId*>& rules_;
  std::vector<std::optional<Restorer::Target>> targets_;  // by index
};

// The first place at or after `offset` where a block may begin.
std::optional<uint64_t> FindBlock(Source source, uint64_t offset) {
  std::string window(64 << 10, '\0');
  while (true) {
    const size_t size = source(offset, window.data(), window.size());
    const size_t at = absl::string_view(window.data(), size).find(kBlockMagic);
    if (at != absl::string_view::npos) return offset + at;
    if (size < window.size()) return std::nullopt;
    offset += size - kBlockMagic.size() + 1;
  }
}

// The block at `offset`, whole and intact.
bool ReadBlock(Source source, uint64_t offset, Frame& frame,
               std::string& payload) {
  std::string head(kFrameBytes, '\0');
  head.resize(source(offset, head.data(), head.size()));
  if (!DecodeFrame(head, frame)) return false;
  payload.resize(frame.payload_bytes);
  payload.resize(source(offset + kFrameBytes, payload.data(), payload.size()));
  return IsIntact(frame, payload);
}

}  // namespace

absl::StatusOr<uint64_t> WriteState(Limiter& limiter, const Clock& clock,
                                    const HashKey& key, Sink sink) {
  int64_t at_ns = clock.NowNs();
  absl::Status status = sink(EncodeHeader({at_ns, key}));
  BlockBuilder builder(limiter.registry());
  BucketTable::Cursor cursor;
  SavedBuckets buckets;
  uint64_t count = 0;
  while (status.ok() && limiter.Save(cursor, at_ns, buckets)) {
    builder.Add(buckets);
    if (!builder.is_full()) continue;
    count += builder.buckets();
    status = sink(builder.Finish(at_ns));
    at_ns = clock.NowNs();
  }
  if (status.ok() && builder.buckets() > 0) {
    count += builder.buckets();
    status = sink(builder.Finish(at_ns));
  }
  std::string end;
  AppendVarint(count, end);
  if (status.ok()) status = sink(EncodeBlock(0, at_ns, end));
  if (!status.ok()) return status;
  return count;
}

absl::StatusOr<Header> ReadHeader(Source source) {
  std::string bytes(kHeaderBytes, '\0');
  bytes.resize(source(0, bytes.data(), bytes.size()));
  return DecodeHeader(bytes);
}

RestoreReport RestoreState(Source source, Limiter& limiter) {
  // Whoever looks for the next block after each of more than these has no file
  // but a trap: each may cost a checksum over kMaxPayloadBytes.
  constexpr uint64_t kMaxBadBlocks = 64;
  RestoreReport report;
  Restorer restorer = limiter.MakeRestorer();
  absl::flat_hash_set<const RuleId*> rules;
  Frame frame;
  std::string payload;
  std::optional<uint64_t> offset = kHeaderBytes;
  char next = 0;
  while (offset.has_value() && !report.complete &&
         source(*offset, &next, 1) == 1) {
    if (!ReadBlock(source, *offset, frame, payload)) {
      if (++report.bad_blocks >= kMaxBadBlocks) break;
      offset = FindBlock(source, *offset + 1);
      continue;
    }
    *offset += kFrameBytes + payload.size();
    if (frame.buckets == 0) {
      report.complete = true;
      continue;
    }
    BlockRestorer visitor(restorer, limiter.registry(), frame.at_ns, report,
                          rules);
    if (!VisitBlock(payload, frame.buckets, visitor)) ++report.bad_blocks;
  }
  report.rules = rules.size();
  return report;
}

}  // namespace tollgate::state
