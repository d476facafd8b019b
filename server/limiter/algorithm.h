#ifndef TOLLGATE_SERVER_LIMITER_ALGORITHM_H_
#define TOLLGATE_SERVER_LIMITER_ALGORITHM_H_

#include <array>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/limiter/limit.h"

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
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 24);
    std::memcpy(bytes.data(), &value, sizeof(T));
  }
};

// What one bucket says of one cost.
struct Verdict {
  bool allowed = false;
  // Until the same cost would be allowed, exact to the nanosecond; 0 if it is.
  int64_t retry_after_ns = 0;
  // Until the bucket is full, if nobody takes from it.
  int64_t reset_after_ns = 0;
  // Whole tokens left, after a take that was allowed.
  uint64_t remaining = 0;
};

// Stateless arithmetic over a BucketState: it knows no clock, key, lock or
// store. All of it is exact in integers, and rounding never favours admission.
// `now_ns` may go backwards: that adds nothing and removes nothing. To add an
// algorithm, write one file and name it in algorithms.cc. Thread-safe.
class Algorithm {
 public:
  virtual ~Algorithm() = default;

  // As in rule files: "token_bucket".
  [[nodiscard]] virtual absl::string_view name() const = 0;

  // OK, or INVALID_ARGUMENT saying why this algorithm cannot keep `limit`.
  [[nodiscard]] virtual absl::Status Validate(const Limit& limit) const = 0;

  // The most that can ever pass at once. A cost above it is impossible.
  [[nodiscard]] virtual uint64_t Capacity(const Limit& limit) const = 0;

  // Takes `cost` (1 to Capacity) if it is there; a refusal changes nothing.
  virtual Verdict Take(BucketState& state, const Limit& limit, uint64_t cost,
                       int64_t now_ns) const = 0;

  // What Take would answer, with `remaining` as it stands.
  [[nodiscard]] virtual Verdict Peek(const BucketState& state,
                                     const Limit& limit, uint64_t cost,
                                     int64_t now_ns) const = 0;

  // Gives back `cost` of an earlier Take, never above the capacity.
  virtual void Refund(BucketState& state, const Limit& limit, uint64_t cost,
                      int64_t now_ns) const = 0;

  // Whether an untouched bucket would decide the same from now on.
  [[nodiscard]] virtual bool IsForgettable(const BucketState& state,
                                           const Limit& limit,
                                           int64_t now_ns) const = 0;

  // Turns a state kept under `from` into one under `to`: what is spent at
  // `now_ns` stays spent, at most the new capacity.
  virtual void Rescale(BucketState& state, const Limit& from, const Limit& to,
                       int64_t now_ns) const = 0;

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
