#ifndef TOLLGATE_SERVER_LIMITER_SLOT_INDEX_H_
#define TOLLGATE_SERVER_LIMITER_SLOT_INDEX_H_

#include <cstddef>
#include <cstdint>

#include "server/base/keyed_hash.h"
#include "server/base/pages.h"

namespace tollgate {

// Finds the slot of a fingerprint, in four bytes an entry: open addressing with
// linear probing, where an entry is a slot number and eight bits of the
// fingerprint. The fingerprints themselves lie in the slots, which the caller
// reads for it through `fingerprint_of(slot)`. An ordinary hash table would
// keep them twice, and a set of slots would cost one more cache miss a look-up.
//
// Fingerprints come from a keyed hash, so nobody can aim at one place of it.
// Thread-compatible.
class SlotIndex {
 public:
  static constexpr uint32_t kNone = 0xFFFFFFFF;
  static constexpr uint32_t kMaxSlots = (1U << 24) - 1;

  SlotIndex() = default;
  ~SlotIndex() { Free(entries_, capacity_); }
  SlotIndex(const SlotIndex&) = delete;
  SlotIndex& operator=(const SlotIndex&) = delete;

  // The slot of `fingerprint`, or kNone.
  template <typename FingerprintOf>
  [[nodiscard]] uint32_t Find(const Fingerprint& fingerprint,
                              const FingerprintOf& fingerprint_of) const {
    if (capacity_ == 0) return kNone;
    const uint32_t tag = Tag(fingerprint);
    for (uint32_t at = Home(fingerprint);; at = Next(at)) {
      const uint32_t entry = entries_[at];
      if (entry == 0) return kNone;
      if ((entry & kTagMask) == tag &&
          fingerprint_of(SlotOf(entry)) == fingerprint) {
        return SlotOf(entry);
      }
    }
  }

  // Adds a fingerprint that is not there, at a slot below kMaxSlots.
  template <typename FingerprintOf>
  void Insert(const Fingerprint& fingerprint, uint32_t slot,
              const FingerprintOf& fingerprint_of) {
    if ((size_ + 1) * 4 > capacity_ * 3) {
      Resize(capacity_ == 0 ? kMinCapacity : capacity_ * 2, fingerprint_of);
    }
    Place(fingerprint, slot);
    ++size_;
  }

  // Says that `fingerprint`, which is there, lies at another slot now.
  void Move(const Fingerprint& fingerprint, uint32_t from, uint32_t to) {
    entries_[PositionOf(fingerprint, from)] = Tag(fingerprint) | (to + 1);
  }

  // Removes `fingerprint`, which is there at `slot`.
  template <typename FingerprintOf>
  void Erase(const Fingerprint& fingerprint, uint32_t slot,
             const FingerprintOf& fingerprint_of) {
    uint32_t hole = PositionOf(fingerprint, slot);
    --size_;
    // Entries behind the hole move up, unless that would put them before their
    // home (Knuth, TAOCP 3, 6.4, algorithm R).
    for (uint32_t at = Next(hole); entries_[at] != 0; at = Next(at)) {
      const uint32_t home = Home(fingerprint_of(SlotOf(entries_[at])));
      if (((at - home) & (capacity_ - 1)) >= ((at - hole) & (capacity_ - 1))) {
        entries_[hole] = entries_[at];
        hole = at;
      }
    }
    entries_[hole] = 0;
  }

  // Gives memory back if the index is far too large for what it holds.
  template <typename FingerprintOf>
  void Shrink(const FingerprintOf& fingerprint_of) {
    if (size_ == 0) {
      Free(entries_, capacity_);
      entries_ = nullptr;
      capacity_ = 0;
    } else if (capacity_ > kMinCapacity && size_ * 8 < capacity_) {
      Resize(capacity_ / 4, fingerprint_of);
    }
  }

  [[nodiscard]] uint32_t size() const { return size_; }
  [[nodiscard]] uint32_t capacity() const { return capacity_; }

 private:
  static constexpr uint32_t kMinCapacity = 8;
  static constexpr uint32_t kTagMask = 0xFF000000;

  static uint32_t Tag(const Fingerprint& f) {
    return static_cast<uint32_t>(f.lo >> 32) & kTagMask;
  }
  static uint32_t SlotOf(uint32_t entry) { return (entry & ~kTagMask) - 1; }
  [[nodiscard]] uint32_t Home(const Fingerprint& f) const {
    return static_cast<uint32_t>(f.lo) & (capacity_ - 1);
  }
  [[nodiscard]] uint32_t Next(uint32_t at) const {
    return (at + 1) & (capacity_ - 1);
  }
  [[nodiscard]] uint32_t PositionOf(const Fingerprint& fingerprint,
                                    uint32_t slot) const {
    const uint32_t entry = Tag(fingerprint) | (slot + 1);
    uint32_t at = Home(fingerprint);
    while (entries_[at] != entry) at = Next(at);
    return at;
  }
  void Place(const Fingerprint& fingerprint, uint32_t slot) {
    uint32_t at = Home(fingerprint);
    while (entries_[at] != 0) at = Next(at);
    entries_[at] = Tag(fingerprint) | (slot + 1);
  }
  template <typename FingerprintOf>
  void Resize(uint32_t capacity, const FingerprintOf& fingerprint_of) {
    uint32_t* const old = entries_;
    const uint32_t old_capacity = capacity_;
    entries_ =
        static_cast<uint32_t*>(AllocateZeroed(capacity * sizeof(uint32_t)));
    capacity_ = capacity;
    for (uint32_t i = 0; i < old_capacity; ++i) {
      if (old[i] == 0) continue;
      Place(fingerprint_of(SlotOf(old[i])), SlotOf(old[i]));
    }
    Free(old, old_capacity);
  }
  static void Free(uint32_t* entries, uint32_t capacity) {
    FreeZeroed(entries, capacity * sizeof(uint32_t));
  }

  uint32_t* entries_ = nullptr;  // owned; 0, or tag and slot + 1
  uint32_t capacity_ = 0;        // 0 or a power of two
  uint32_t size_ = 0;
};

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_LIMITER_SLOT_INDEX_H_
