#ifndef TOLLGATE_SERVER_LIMITER_SPACE_SAVING_H_
#define TOLLGATE_SERVER_LIMITER_SPACE_SAVING_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "server/base/keyed_hash.h"

namespace tollgate {

// A key among those counted most often.
struct HeavyKey {
  Fingerprint id;
  std::string text;
  uint64_t count = 0;   // the exact count, or up to `error` above it
  uint64_t error = 0;   // at most `count`
  int64_t last_ns = 0;  // when it was last counted
  bool shadow = false;  // as it was last counted
};

// Counts which of any number of keys occur most, and remembers at most
// `capacity` of them: Space-Saving (Metwally, Agrawal, El Abbadi: Efficient
// Computation of Frequent and Top-k Elements in Data Streams, 2005). A key that
// finds no room takes over the place and the count of the least counted one,
// and notes that count as its error. Counts fade: at each multiple of the
// half-life since the Unix epoch all of them are halved, rounded down, so a
// sketch at rest costs nothing. A key whose count becomes 0 is gone.
//
// With the exact counts halved alike, and N = total():
// - a key here has count - error <= its exact count <= count;
// - a key that is not here has an exact count of at most N / capacity;
// - error <= (N + 1) / capacity + 1, and N / capacity until the first halving.
//
// Debian 12 has no library for it in C or C++. About 130 bytes for each key
// that it remembers, and the key's text. Thread-compatible.
class SpaceSaving {
 public:
  // `capacity`: 1 or more, of which none is allocated yet. `half_life_ns`: 1 or
  // more. `now_ns` is when the counting begins.
  SpaceSaving(size_t capacity, int64_t half_life_ns, int64_t now_ns);

  // Counts `id` once. `write_text` is asked for the key's text, into an empty
  // string, only if the key is not remembered. An earlier time counts as the
  // latest half-life. Time in the logarithm of the capacity.
  void Add(const Fingerprint& id, int64_t now_ns, bool shadow,
           absl::FunctionRef<void(std::string&)> write_text);

  // Halves the counts as often as is due.
  void Fade(int64_t now_ns);

  // All that was counted, of every key, halved alike.
  [[nodiscard]] uint64_t total() const { return total_; }
  [[nodiscard]] int64_t since_ns() const { return since_ns_; }
  [[nodiscard]] int64_t last_ns() const { return last_ns_; }
  [[nodiscard]] size_t size() const { return slots_.size(); }

  // The first `max` keys, the most counted first, as of the last Add or Fade.
  [[nodiscard]] std::vector<HeavyKey> Top(size_t max) const;

 private:
  struct Slot {
    HeavyKey key;
    uint32_t place = 0;  // in ranking_
  };

  // A slot for a key that is not here, with its count and error.
  uint32_t MakeRoom();
  // Adds one to the slot's count.
  void Raise(uint32_t slot);
  // Forgets the least counted key.
  void DropLast();

  const size_t capacity_;
  const int64_t half_life_ns_;
  const int64_t since_ns_;
  int64_t last_ns_;
  int64_t age_;  // half-lives since the epoch
  uint64_t total_ = 0;
  std::vector<Slot> slots_;
  std::vector<uint32_t> ranking_;  // slots, the most counted first
  absl::flat_hash_map<Fingerprint, uint32_t> slot_of_;
};

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_LIMITER_SPACE_SAVING_H_
