#include "server/metrics/sharded_counters.h"

#include <algorithm>
#include <bit>
#include <memory>
#include <thread>

namespace tollgate {
namespace {

// As many as threads run at once; more would only cost memory.
size_t ShardCount() {
  const size_t cores = std::max(1U, std::thread::hardware_concurrency());
  return std::min<size_t>(64, std::bit_ceil(2 * cores));
}

}  // namespace

ShardedCounters::ShardedCounters(size_t columns, size_t rows_per_block)
    : columns_(columns),
      rows_per_block_(rows_per_block),
      row_bits_(std::countr_zero(rows_per_block)),
      shards_(ShardCount()),
      lines_per_shard_((columns * rows_per_block + kCellsPerLine - 1) /
                       kCellsPerLine) {}

ShardedCounters::~ShardedCounters() {
  for (std::atomic<Line*>& block : blocks_) delete[] block.load();
}

void ShardedCounters::Grow(size_t rows) {
  const size_t blocks = (rows + rows_per_block_ - 1) / rows_per_block_;
  for (size_t i = 0; i < std::min(blocks, kMaxBlocks); ++i) {
    if (blocks_[i].load(std::memory_order_relaxed) != nullptr) continue;
    auto block = std::make_unique<Line[]>(shards_ * lines_per_shard_);
    blocks_[i].store(block.release(), std::memory_order_release);
  }
}

uint64_t ShardedCounters::Sum(size_t row, size_t column) const {
  const size_t index = row >> row_bits_;
  if (index >= kMaxBlocks) return 0;
  Line* block = blocks_[index].load(std::memory_order_acquire);
  if (block == nullptr) return 0;
  uint64_t sum = 0;
  for (size_t shard = 0; shard < shards_; ++shard) {
    sum += Cell(block, shard, row, column).load(std::memory_order_relaxed);
  }
  return sum;
}

size_t ShardedCounters::ThreadShard() const {
  static std::atomic<size_t> next{0};
  thread_local const size_t mine = next.fetch_add(1, std::memory_order_relaxed);
  return mine & (shards_ - 1);
}

}  // namespace tollgate
