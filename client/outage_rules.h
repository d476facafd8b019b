#ifndef TOLLGATE_CLIENT_OUTAGE_RULES_H_
#define TOLLGATE_CLIENT_OUTAGE_RULES_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "client/client_count.h"
#include "client/decision.h"
#include "client/policy.h"
#include "client/request.h"
#include "client/stats.h"
#include "server/base/clock.h"
#include "server/base/mutex.h"
#include "server/base/snapshot.h"
#include "server/limiter/limiter.h"

namespace tollgate::client {

// The rules that the service pushed, enforced while it cannot be reached: the
// core's own limiter, where each rule keeps to its outage policy and `backstop`
// to this client's even share of the limit.
//
// A share is taken by cost: with n clients each token counts n times against
// the whole limit. So every algorithm and every limit of a rule is shared alike
// and exactly, a change of n needs no new rules, and what was spent stays
// spent. What the service grants is spent here too (Mirror): an outage begins
// where the service left off, instead of with a burst from every client.
// Thread-safe.
class OutageRules final : public PolicyHandler {
 public:
  // `clock` must outlive it. Starts with no rules.
  explicit OutageRules(const Clock& clock);

  void OnPolicy(PolicyUpdate update) override;
  void OnPolicyLost(const absl::Status& status) override;

  // Whether the service has said any rule of the domain.
  [[nodiscard]] bool Covers(absl::string_view domain) const;

  // Spends what a request took that the service has allowed, as far as this
  // client's share has it.
  void Mirror(const Request& request);

  // Decides a request of a domain that Covers. Its source is kOutagePolicy if a
  // rule refuses because of its outage policy or none limits, else kBackstop.
  // Its ticket is for Release.
  Decision Decide(const Request& request);

  // Frees what `ticket` holds here; false if it is none of Decide's.
  bool Release(const std::string& ticket);

  // Another one as soon as the service says other rules.
  [[nodiscard]] uint32_t version() const {
    return version_.load(std::memory_order_relaxed);
  }

  [[nodiscard]] PolicyStats stats() const;

 private:
  // What a decision needs beside the limiter.
  struct InForce {
    absl::flat_hash_set<std::string> domains;
    absl::flat_hash_set<const RuleId*> refuse;  // by their outage policy
  };

  absl::Status SetRules(std::vector<Rule> rules)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  [[nodiscard]] Source SourceOf(const tollgate::Decision& decided) const;
  // Forgets a few buckets that are full again, now and then.
  void SweepSometimes();

  const Clock& clock_;
  Limiter limiter_;
  Snapshot<InForce> in_force_;
  std::atomic<uint32_t> clients_{1};  // believed; read by every decision
  std::atomic<uint32_t> version_{0};  // tells rules apart; orders nothing
  std::atomic<uint32_t> calls_{0};    // of SweepSometimes; orders nothing

  mutable Mutex mutex_;
  ClientCount count_ ABSL_GUARDED_BY(mutex_);
  PolicyStats stats_ ABSL_GUARDED_BY(mutex_);  // without its age
  int64_t heard_at_ns_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace tollgate::client

#endif  // TOLLGATE_CLIENT_OUTAGE_RULES_H_
