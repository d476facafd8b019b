#ifndef TOLLGATE_SERVER_LIMITER_ALGORITHM_H_
#define TOLLGATE_SERVER_LIMITER_ALGORITHM_H_

#include <array>
#include <cstdint>
#include <cstring>
#include <new>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/limiter/limit.h"
#include "server/limiter/saved_state.h"

namespace tollgate {

// What an algorithm remembers of one key: 24 plain bytes, to be read as the
// algorithm's own struct. All zero is a bucket that nobody has touched.
struct BucketState {
  alignas(8) std::array<unsigned char, 24> bytes{};

  template <typename T>
  [[nodiscard]] T As() const {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 24);
    T value;
    std::memcpy(&value, bytes.data(), sizeof(T));
    return value;
  }
  template <typename T>
  void Set(const T& value) {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 24 &&
                  alignof(T) <= alignof(BucketState));
    // Field by field: a copy of all bytes at once would stall on the stores
    // that have just made `value`.
    ::new (static_cast<void*>(bytes.data())) T(value);
  }
};

// What is asked of one bucket.
struct Ask {
  uint64_t cost = 1;      // tokens; 1 or more
  uint64_t reserved = 0;  // tokens that must be left for others afterwards
  // Names what is taken, so that it can be given back by name. Unique in the
  // process; only `concurrency` looks at it.
  uint64_t ticket = 0;
};

// What one bucket says of an Ask.
struct Verdict {
  bool allowed = false;
  // Until the same would be allowed, exact to the nanosecond; 0 if it is.
  int64_t retry_after_ns = 0;
  // Until the bucket is full, if nobody takes from it.
  int64_t reset_after_ns = 0;
  // How long what is allowed has to wait before it goes ahead.
  int64_t delay_ns = 0;
  // Whole tokens left, after a take that was allowed.
  uint64_t remaining = 0;
  // The instant that this holds for: `now_ns`, or the bucket's own time if that
  // is later. What Refund wants to know of a take.
  int64_t at_ns = 0;
};

// Arithmetic over a BucketState: it knows no clock, key, lock or store. All of
// it is exact in integers, and rounding never favours admission. `now_ns` may
// go backwards: that adds nothing and removes nothing. To add an algorithm,
// write one file and name it in algorithms.cc. Stateless; thread-safe.
class Algorithm {
 public:
  virtual ~Algorithm() = default;

  // As in rule files: "token_bucket".
  [[nodiscard]] virtual absl::string_view name() const = 0;

  // OK, or INVALID_ARGUMENT saying why this algorithm cannot keep `limit`.
  [[nodiscard]] virtual absl::Status Validate(const Limit& limit) const = 0;

  // The most that one Ask can ever get. A cost above it, less what is reserved,
  // is impossible.
  [[nodiscard]] virtual uint64_t Capacity(const Limit& limit) const = 0;

  // Takes `ask.cost` if it is there; a refusal changes nothing that a later
  // decision could see.
  virtual Verdict Take(BucketState& state, const Limit& limit, const Ask& ask,
                       int64_t now_ns) const = 0;

  // What Take would answer, with `remaining` as it stands.
  [[nodiscard]] virtual Verdict Peek(const BucketState& state,
                                     const Limit& limit, const Ask& ask,
                                     int64_t now_ns) const = 0;

  // Gives back what `ask` took at `taken_at_ns`, never above the capacity. What
  // a window has forgotten since is not given back twice.
  virtual void Refund(BucketState& state, const Limit& limit, const Ask& ask,
                      int64_t taken_at_ns, int64_t now_ns) const = 0;

  // Whether an untouched bucket would decide the same from now on.
  [[nodiscard]] virtual bool IsForgettable(const BucketState& state,
                                           const Limit& limit,
                                           int64_t now_ns) const = 0;

  // Turns a state kept under `from` into one under `to`: what is spent at
  // `now_ns` stays spent, at most the new capacity.
  virtual void Rescale(BucketState& state, const Limit& from, const Limit& to,
                       int64_t now_ns) const = 0;

  // Appends the numbers of a SavedState as of `at_ns`, of which Restore makes a
  // state that decides the same from then on.
  virtual void Save(const BucketState& state, const Limit& limit, int64_t at_ns,
                    std::vector<int64_t>& numbers) const = 0;

  // Makes `state`, which is untouched, of what Save told. The numbers may be
  // anything: the state is one that takes could have led to by `now_ns`, so it
  // holds no more than the limit, and nothing waits longer than for a bucket
  // that was emptied now. False, with `state` untouched, where Save could never
  // have told that.
  [[nodiscard]] virtual bool Restore(const SavedState& saved,
                                     const Limit& limit, int64_t now_ns,
                                     BucketState& state) const = 0;

  // Whether what is taken is given back by its ticket.
  [[nodiscard]] virtual bool TakesByTicket() const { return false; }

  // Whether the state owns memory beyond its 24 bytes. Such a state must be
  // trimmed before it is dropped, and Rescale leaves that memory alone.
  [[nodiscard]] virtual bool OwnsMemory() const { return false; }

  // Frees the memory that no decision from `now_ns` on needs.
  virtual void Trim(BucketState& state, const Limit& limit,
                    int64_t now_ns) const {
    (void)state, (void)limit, (void)now_ns;
  }

 protected:
  Algorithm() = default;
  Algorithm(const Algorithm&) = default;
  Algorithm& operator=(const Algorithm&) = default;
};

// The algorithm of that name, living as long as the process, or null.
[[nodiscard]] const Algorithm* FindAlgorithm(absl::string_view name);

// The names that FindAlgorithm knows, for messages.
[[nodiscard]] std::vector<absl::string_view> AlgorithmNames();

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_LIMITER_ALGORITHM_H_
