#ifndef TOLLGATE_SERVER_LIMITER_BUCKET_CHUNKS_H_
#define TOLLGATE_SERVER_LIMITER_BUCKET_CHUNKS_H_

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "server/base/pages.h"
#include "server/limiter/bucket.h"

namespace tollgate {

// A row of buckets that grows and shrinks at its end and never moves a bucket:
// chunks of 8, 16, 32, ... buckets. Memory beyond the end is not touched, so it
// costs address space only. Thread-compatible.
class BucketChunks {
 public:
  // The memory of one chunk, given back with it.
  class Chunk {
   public:
    Chunk(Bucket* buckets, uint32_t capacity)
        : buckets_(buckets), bytes_(capacity * sizeof(Bucket)) {}
    ~Chunk() { FreeZeroed(buckets_, bytes_); }
    Chunk(Chunk&& other) noexcept
        : buckets_(std::exchange(other.buckets_, nullptr)),
          bytes_(other.bytes_) {}
    Chunk& operator=(Chunk&&) = delete;

   private:
    Bucket* buckets_;
    size_t bytes_;
  };

  BucketChunks() = default;
  ~BucketChunks() {
    while (size_ > 0) PopBack();
    const std::vector<Chunk> spare = TakeSpare();
  }
  BucketChunks(const BucketChunks&) = delete;
  BucketChunks& operator=(const BucketChunks&) = delete;

  [[nodiscard]] uint32_t size() const { return size_; }

  // `slot` is below size().
  [[nodiscard]] Bucket& operator[](uint32_t slot) const {
    const uint32_t chunk = ChunkOf(slot);
    return chunks_[chunk][slot - FirstOf(chunk)];
  }

  // Adds an untouched bucket.
  Bucket& PushBack() {
    const uint32_t chunk = ChunkOf(size_);
    if (chunks_[chunk] == nullptr) {
      chunks_[chunk] = static_cast<Bucket*>(
          AllocateZeroed(CapacityOf(chunk) * sizeof(Bucket)));
    }
    Bucket* bucket = chunks_[chunk] + (size_ - FirstOf(chunk));
    ++size_;
    return *std::construct_at(bucket);
  }

  // Removes the last bucket. Its memory stays until TakeSpare.
  void PopBack() {
    std::destroy_at(&(*this)[size_ - 1]);
    --size_;
  }

  // Takes out what is beyond the end, but for one chunk while the one before it
  // is over half full, so that a size that swings about a boundary does not
  // allocate each time. To be let go where no lock is held.
  [[nodiscard]] std::vector<Chunk> TakeSpare() {
    uint32_t from = 0;
    if (size_ > 0) {
      const uint32_t last = ChunkOf(size_ - 1);
      const uint32_t used = size_ - FirstOf(last);
      from = last + (used <= CapacityOf(last) / 2 ? 1 : 2);
    }
    std::vector<Chunk> spare;
    while (from < kChunks && chunks_[from] != nullptr) {
      spare.emplace_back(std::exchange(chunks_[from], nullptr),
                         CapacityOf(from));
      ++from;
    }
    return spare;
  }

 private:
  static constexpr uint32_t kFirst = 8;
  static constexpr uint32_t kChunks = 21;  // 16.7 million buckets

  static uint32_t ChunkOf(uint32_t slot) {
    return static_cast<uint32_t>(std::bit_width(slot / kFirst + 1)) - 1;
  }
  static uint32_t CapacityOf(uint32_t chunk) { return kFirst << chunk; }
  static uint32_t FirstOf(uint32_t chunk) {
    return kFirst * ((1U << chunk) - 1);
  }

  uint32_t size_ = 0;
  std::array<Bucket*, kChunks> chunks_{};  // owned
};

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_LIMITER_BUCKET_CHUNKS_H_
