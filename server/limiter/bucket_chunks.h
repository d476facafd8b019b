#ifndef TOLLGATE_SERVER_LIMITER_BUCKET_CHUNKS_H_
#define TOLLGATE_SERVER_LIMITER_BUCKET_CHUNKS_H_

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "server/limiter/bucket.h"

namespace tollgate {

// A row of buckets that grows and shrinks at its end and never moves a bucket:
// chunks of 8, 16, 32, ... buckets. Memory beyond the end is not touched, so it
// costs address space only. Thread-compatible.
class BucketChunks {
 private:
  struct Free {
    void operator()(Bucket* chunk) const { ::operator delete(chunk); }
  };

 public:
  // The memory of one chunk.
  using Chunk = std::unique_ptr<Bucket, Free>;

  BucketChunks() = default;
  ~BucketChunks() {
    while (size_ > 0) PopBack();
  }
  BucketChunks(const BucketChunks&) = delete;
  BucketChunks& operator=(const BucketChunks&) = delete;

  [[nodiscard]] uint32_t size() const { return size_; }

  // `slot` is below size().
  [[nodiscard]] Bucket& operator[](uint32_t slot) const {
    const uint32_t chunk = ChunkOf(slot);
    return chunks_[chunk].get()[slot - FirstOf(chunk)];
  }

  // Adds an untouched bucket.
  Bucket& PushBack() {
    const uint32_t chunk = ChunkOf(size_);
    if (chunks_[chunk] == nullptr) {
      chunks_[chunk].reset(static_cast<Bucket*>(
          ::operator new(CapacityOf(chunk) * sizeof(Bucket))));
    }
    Bucket* bucket = chunks_[chunk].get() + (size_ - FirstOf(chunk));
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
  // allocate each time. To be let go where no lock is held: the allocator may
  // give much back to the system then, which takes milliseconds.
  [[nodiscard]] std::vector<Chunk> TakeSpare() {
    uint32_t from = 0;
    if (size_ > 0) {
      const uint32_t last = ChunkOf(size_ - 1);
      const uint32_t used = size_ - FirstOf(last);
      from = last + (used <= CapacityOf(last) / 2 ? 1 : 2);
    }
    std::vector<Chunk> spare;
    while (from < kChunks && chunks_[from] != nullptr) {
      spare.push_back(std::move(chunks_[from++]));
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
  std::array<Chunk, kChunks> chunks_;
};

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_LIMITER_BUCKET_CHUNKS_H_
