#ifndef TOLLGATE_SERVER_LIMITER_BUCKET_CHUNKS_H_
#define TOLLGATE_SERVER_LIMITER_BUCKET_CHUNKS_H_

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "server/limiter/bucket.h"

namespace tollgate {

// A row of buckets that grows and shrinks at its end and never moves a bucket:
// chunks of 8, 16, 32, ... buckets. Memory beyond the end is not touched, so it
// costs address space only. Thread-compatible.
class BucketChunks {
 public:
  BucketChunks() = default;
  ~BucketChunks() { Release(0); }
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
      chunks_[chunk] = std::allocator<Bucket>().allocate(CapacityOf(chunk));
    }
    Bucket* bucket = chunks_[chunk] + (size_ - FirstOf(chunk));
    ++size_;
    return *std::construct_at(bucket);
  }

  // Removes the last bucket. A chunk goes once the one before it is half empty,
  // so that a size that swings about a boundary does not allocate each time.
  void PopBack() {
    std::destroy_at(&(*this)[size_ - 1]);
    --size_;
    const uint32_t chunk = ChunkOf(size_);
    const uint32_t used = size_ - FirstOf(chunk);
    if (size_ == 0) {
      Release(0);
    } else if (used <= CapacityOf(chunk) / 2) {
      Release(chunk + 1);
    }
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
  void Release(uint32_t from) {
    for (uint32_t chunk = from; chunk < kChunks; ++chunk) {
      if (chunks_[chunk] == nullptr) break;
      std::allocator<Bucket>().deallocate(chunks_[chunk], CapacityOf(chunk));
      chunks_[chunk] = nullptr;
    }
  }

  uint32_t size_ = 0;
  std::array<Bucket*, kChunks> chunks_{};
};

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_LIMITER_BUCKET_CHUNKS_H_
