#ifndef TOLLGATE_TESTS_LIMITER_NAIVE_MODEL_H_
#define TOLLGATE_TESTS_LIMITER_NAIVE_MODEL_H_

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/numeric/int128.h"
#include "server/limiter/decision.h"
#include "server/limiter/rule.h"

namespace tollgate {

// One key under one limit, as the definition of a token bucket has it: how much
// is spent, and the instant at which that was so. Spent is a rational number of
// tokens with the period in nanoseconds as its denominator: a token is `period`
// units, and each nanosecond refills `tokens` of them, so all is exact.
class NaiveBucket {
 public:
  explicit NaiveBucket(const Limit& limit) : limit_(limit) {}

  [[nodiscard]] const Limit& limit() const { return limit_; }
  // The bucket's own time, which never goes back: the latest instant at which
  // something was taken or given back.
  [[nodiscard]] int64_t own_ns() const { return own_ns_; }

  [[nodiscard]] bool Allows(uint64_t cost, int64_t now_ns) const;
  // Until `cost` is allowed.
  [[nodiscard]] int64_t RetryAfter(uint64_t cost, int64_t now_ns) const;
  [[nodiscard]] int64_t ResetAfter(int64_t now_ns) const;
  [[nodiscard]] uint64_t Remaining(int64_t now_ns) const;
  [[nodiscard]] bool IsFullAt(int64_t now_ns) const;

  void Take(uint64_t cost, int64_t now_ns);
  void Refund(uint64_t cost, int64_t now_ns);
  // What is spent at `now_ns` stays spent, rounded up to a unit of the new
  // limit, at most its burst.
  void Rescale(const Limit& to, int64_t now_ns);
  // Nothing of what follows happens before `ns`.
  void NotBefore(int64_t ns);

 private:
  [[nodiscard]] absl::uint128 Token() const {
    return absl::uint128(static_cast<uint64_t>(limit_.period_ns()));
  }
  [[nodiscard]] absl::uint128 Capacity() const {
    return Token() * limit_.burst();
  }
  [[nodiscard]] absl::uint128 SpentAt(int64_t now_ns) const;
  void Set(absl::uint128 spent, int64_t now_ns);

  Limit limit_;
  absl::uint128 spent_ = 0;
  int64_t own_ns_ = 0;
};

// What one status must say.
struct NaiveStatus {
  Outcome outcome = Outcome::kAllowed;
  uint64_t remaining = 0;
  int64_t retry_after_ns = 0;
  int64_t reset_after_ns = 0;
};

struct NaiveDecision {
  Outcome outcome = Outcome::kAllowed;
  int64_t retry_after_ns = 0;
  std::vector<NaiveStatus> statuses;
};

// The limiter as DESIGN.md's section 3 tells it, for one descriptor a request
// and one thread: no hash, no index, no lazy reload; a plain map.
class NaiveModel {
 public:
  // Entries by key.
  using Entries = std::map<std::string, std::string>;
  // Rule, values of its key, number of the limit.
  using Key = std::tuple<std::string, std::vector<std::string>, size_t>;
  // What was let through: when by the bucket's own time, and how much.
  struct Admission {
    int64_t at_ns;
    uint64_t cost;
  };

  void SetRules(std::vector<Rule> rules, int64_t now_ns);
  NaiveDecision Decide(const Entries& entries, uint64_t cost, int64_t now_ns);
  // Forgets every bucket that is full. Returns how many it forgot.
  size_t Sweep(int64_t now_ns);

  [[nodiscard]] size_t bucket_count() const { return buckets_.size(); }
  [[nodiscard]] const std::map<Key, std::vector<Admission>>& admissions()
      const {
    return admissions_;
  }
  [[nodiscard]] const std::vector<Rule>& rules() const { return rules_; }

 private:
  // A bucket that a request selects.
  struct Charge {
    Key key;
    Limit limit;
    uint64_t cost;
    bool shadow;
    bool taken = false;
  };

  [[nodiscard]] std::vector<Charge> Select(const Entries& entries,
                                           uint64_t cost) const;
  [[nodiscard]] NaiveBucket Look(const Charge& charge) const;
  [[nodiscard]] NaiveStatus Describe(const Charge& charge,
                                     int64_t now_ns) const;
  // Whether it was there to take.
  bool Take(Charge& charge, int64_t now_ns);

  std::vector<Rule> rules_;
  std::map<Key, NaiveBucket> buckets_;
  // The limit that each rule's number had last.
  std::map<std::pair<std::string, size_t>, Limit> bound_;
  std::map<Key, std::vector<Admission>> admissions_;
  // The latest sweep that forgot something: a bucket made later starts no
  // earlier, or the time in between would refill twice if the clock goes back.
  int64_t forgot_ns_ = 0;
};

}  // namespace tollgate

#endif  // TOLLGATE_TESTS_LIMITER_NAIVE_MODEL_H_
