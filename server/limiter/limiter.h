#ifndef TOLLGATE_SERVER_LIMITER_LIMITER_H_
#define TOLLGATE_SERVER_LIMITER_LIMITER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "server/base/clock.h"
#include "server/base/keyed_hash.h"
#include "server/base/mutex.h"
#include "server/base/snapshot.h"
#include "server/limiter/bucket_table.h"
#include "server/limiter/decision.h"
#include "server/limiter/override_limits.h"
#include "server/limiter/refused_keys.h"
#include "server/limiter/registry.h"
#include "server/limiter/request.h"
#include "server/limiter/restorer.h"
#include "server/limiter/rule_set.h"
#include "server/limiter/saved_buckets.h"

namespace tollgate {

struct DescriptorSelection;
struct Selection;

struct LimiterOptions {
  // Buckets that are remembered at most, 1 or more; about 56 bytes each. Beyond
  // it, keys that have none share one bucket for each limit of a rule.
  size_t max_buckets = 10'000'000;
  // Stripes of the bucket table, a power of two, 1 to 2^20. More stripes mean
  // fewer threads that meet and shorter growth steps; each costs 256 bytes.
  // 0: as many as `max_buckets` needs for short steps, at least 1024.
  size_t stripes = 0;
  // The secret of the bucket fingerprints. Change it only to restore buckets
  // that were saved under another one, or to make a test repeatable.
  HashKey hash_key = RandomHashKey();
  // Told of every rule set and decision; must outlive the limiter. May be null.
  DecisionObserver* observer = nullptr;
  // Which keys are refused most; off unless told.
  RefusedKeysOptions refused_keys;
};

// Decides requests against the rules in force. A request passes if every bucket
// that it selects has the tokens; if one refuses, the tokens taken from the
// others are given back. A thread holds at most one bucket's lock at a time,
// and nothing slow happens under any. Thread-safe.
class Limiter {
 public:
  // `clock` must outlive the limiter. Starts with no rules: all is allowed.
  explicit Limiter(const Clock& clock, LimiterOptions options = {});
  ~Limiter();
  Limiter(const Limiter&) = delete;
  Limiter& operator=(const Limiter&) = delete;

  // Replaces all rules in one step. A bucket whose rule keeps its name and
  // algorithm is kept, and what it has spent stays spent. On an error the rules
  // in force stay.
  absl::Status SetRules(RuleSet rules);

  // Decides one request, which must satisfy ValidateRequest. Reads the clock
  // once. Allocates nothing where all buckets exist and at most 4 apply. The
  // outcome is kOverridden, and nothing was taken, if the request brings a
  // limit along and OverrideLimits::kMaxLimits others came before: an error for
  // the caller (RESOURCE_EXHAUSTED), as kExpired is.
  Decision Decide(const Request& request);

  // Takes what `request` costs from each of its buckets that has it, on its
  // own: for a request that was allowed elsewhere. A bucket that has less keeps
  // that; slots are not taken.
  void Spend(const Request& request);

  // Gives back what `request`, allowed at `taken_at_ns`, took from buckets that
  // can have it back: never above their capacity, and nothing that a window has
  // forgotten since. `overflow` is the decision's: what was taken from a bucket
  // that keys share goes back there, also if the key has one of its own by now.
  // Returns the buckets as they are then. For the caller who learns that the
  // cost was lower than the estimate; slots are for Release.
  Decision Refund(const Request& request, int64_t taken_at_ns,
                  absl::Span<const Fingerprint> overflow = {});

  // Frees the slots that a decision held. Slots that have expired or were
  // released before are no error. Returns whether there is such a bucket still.
  bool Release(const HeldSlots& slots);

  // Makes every bucket that `request` selects full again; of one rule alone if
  // `rule` is not empty. Returns how many there were.
  size_t Reset(const Request& request, absl::string_view rule);

  // Which keys the rules refuse most; nothing if the options have it off.
  std::optional<RefusedKeysReport> ReportRefusedKeys(
      const RefusedKeysQuery& query);

  // Forgets buckets that are full again, and refused keys that have faded,
  // looking at about `max_buckets` of them
  // and going on where the last call stopped. Returns how many it forgot.
  size_t Sweep(size_t max_buckets);

  // Copies the next buckets that are not full out of the tables, so that they
  // can be kept elsewhere; meanwhile decisions go on. False once all were.
  bool Save(BucketTable::Cursor& cursor, int64_t at_ns, SavedBuckets& out);
  // Puts saved buckets of the rules in force back, as of now. The limiter that
  // saved them must have had the same hash key. For before the first decision;
  // the limiter must outlive it.
  Restorer MakeRestorer() {
    return Restorer(rules(), registry_, table_, overflow_, clock_.NowNs());
  }

  // Buckets that are remembered now, at most LimiterOptions::max_buckets. Those
  // that keys share are not among them.
  [[nodiscard]] size_t bucket_count() const { return table_.size(); }
  [[nodiscard]] size_t max_buckets() const { return options_.max_buckets; }
  // Buckets forgotten since the start.
  [[nodiscard]] uint64_t swept_count() const { return table_.swept_count(); }
  // The rules in force, for those who must keep them.
  [[nodiscard]] std::shared_ptr<const RuleSet> rules() const {
    return rules_.Share();
  }
  [[nodiscard]] const Registry& registry() const { return registry_; }

 private:
  friend class Planner;  // decides by the same steps, with others' buckets

  void DecideByRule(const Request& request, const DomainRules& domain,
                    uint64_t ticket, Decision& decision);
  void DecideByDescriptor(const Request& request, const DomainRules& domain,
                          uint64_t ticket, Decision& decision);
  // Says when the decision is made. False if nobody waits for it by then.
  bool ReadClock(const Request& request, Decision& decision);
  // Counts who was refused, once the charges are settled.
  void Finish(const Request& request, const Selection& selection, bool refused,
              Decision& decision);
  void Finish(const Request& request, const DescriptorSelection& selection,
              const Decision& decision);
  void Tell(const Decision& decision);
  // Names what a request takes from rules of the domain.
  uint64_t NewTicket(const DomainRules& domain);
  // Every bucket that the request asks.
  Selection SelectBuckets(const Request& request, const DomainRules& domain);

  const Clock& clock_;
  const LimiterOptions options_;
  Registry registry_;
  BucketTable table_;
  BucketTable overflow_;  // what keys share while `table_` is full
  OverrideLimits overrides_;
  Mutex set_rules_mutex_;  // one SetRules at a time
  Snapshot<RuleSet> rules_;
  std::atomic<uint64_t> next_ticket_;  // unique names, in no order
  const std::unique_ptr<RefusedKeys> refused_keys_;  // null if off
};

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_LIMITER_LIMITER_H_
