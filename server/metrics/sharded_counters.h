#ifndef TOLLGATE_SERVER_METRICS_SHARDED_COUNTERS_H_
#define TOLLGATE_SERVER_METRICS_SHARDED_COUNTERS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tollgate {

// A table of counters, rows by columns, in which every thread adds to a shard
// of its own and a reader sums the shards. Counters only grow. Rows are added
// in blocks that never move, so adding never waits for growing. Thread-safe,
// except that calls of Grow must not overlap.
class ShardedCounters {
 public:
  // `columns`: 1 or more. `rows_per_block`: how many rows Grow adds at once, a
  // power of two.
  ShardedCounters(size_t columns, size_t rows_per_block);
  ~ShardedCounters();
  ShardedCounters(const ShardedCounters&) = delete;
  ShardedCounters& operator=(const ShardedCounters&) = delete;

  // Makes rows 0 to `rows` - 1 countable. At most 4096 blocks; rows beyond are
  // not counted.
  void Grow(size_t rows);

  // Adds without a lock and without allocating. A row that Grow never made is
  // not counted.
  void Add(size_t row, size_t column, uint64_t n = 1) {
    const size_t block = row >> row_bits_;
    if (block >= kMaxBlocks) return;
    Line* lines = blocks_[block].load(std::memory_order_acquire);
    if (lines == nullptr) return;
    Cell(lines, ThreadShard(), row, column)
        .fetch_add(n, std::memory_order_relaxed);
  }

  // What all threads added so far; 0 for a row that Grow never made.
  [[nodiscard]] uint64_t Sum(size_t row, size_t column) const;

 private:
  static constexpr size_t kMaxBlocks = 4096;
  static constexpr size_t kCellsPerLine = 8;
  // One cache line, so that threads of different shards share none.
  struct alignas(64) Line {
    std::array<std::atomic<uint64_t>, kCellsPerLine> cells{};
  };

  // This thread's shard: given out in turn, kept until the thread ends.
  [[nodiscard]] size_t ThreadShard() const;
  [[nodiscard]] std::atomic<uint64_t>& Cell(Line* block, size_t shard,
                                            size_t row, size_t column) const {
    const size_t cell = (row & (rows_per_block_ - 1)) * columns_ + column;
    return block[shard * lines_per_shard_ + cell / kCellsPerLine]
        .cells[cell % kCellsPerLine];
  }

  const size_t columns_;
  const size_t rows_per_block_;  // a power of two
  const int row_bits_;           // and its logarithm
  const size_t shards_;          // a power of two
  const size_t lines_per_shard_;
  // Written by Grow, read without a lock.
  std::array<std::atomic<Line*>, kMaxBlocks> blocks_{};
};

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_METRICS_SHARDED_COUNTERS_H_
