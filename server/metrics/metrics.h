#ifndef TOLLGATE_SERVER_METRICS_METRICS_H_
#define TOLLGATE_SERVER_METRICS_METRICS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "server/limiter/decision.h"
#include "server/limiter/refused_keys.h"
#include "server/metrics/counts.h"

namespace tollgate {

struct MetricsOptions {
  // The program's version, as tollgate_build_info shows it.
  std::string version;
};

// What became of runs on the store that processes share.
struct StoreTotals {
  struct Errors {
    absl::string_view of;  // one of a bounded set
    uint64_t count = 0;
  };
  struct Bucket {
    double up_to_seconds = 0;  // the last one has infinity
    uint64_t count = 0;        // in this bucket alone
  };
  std::vector<Errors> errors;      // of each operation
  std::vector<Errors> run_errors;  // of each cause
  std::vector<Bucket> durations;
  double total_seconds = 0;
};

// What the limiter says at the moment of a scrape.
struct BucketTotals {
  uint64_t buckets = 0;      // remembered now
  uint64_t max_buckets = 0;  // that many at most
  uint64_t swept = 0;        // forgotten since the start
  // The most refused key of each rule; null if keys are not kept.
  const RefusedKeysReport* refused = nullptr;
  const StoreTotals* store = nullptr;  // null if buckets are in this process
};

enum class ReloadResult { kSuccess, kFailure };
enum class ConnectionRefusal { kTotal, kAddress, kDescriptors, kFlood };
enum class ConnectionKill { kFlood, kSlowReader };

// Counts decisions and what the service does with calls, and writes all of it
// as Prometheus text. The Count functions and OnDecision take no lock, allocate
// nothing, and touch no memory that other threads write. Rules are rows that
// live as long as the process: the series of a removed rule vanish, and go on
// from where they were if the rule comes back. Thread-safe.
//
// What one decision adds:
// - to each rule that applied, once a request however many of its buckets did:
//   "refused" or "impossible" if this rule says so, "shadow_refused" if a
//   shadow rule would have, "allowed" if the rule and the whole request were
//   allowed (an unlimited rule always is); nothing if the rule allowed what
//   another one refused.
// - to each rule that applied, if a key in need shared its overflow bucket, and
//   if its outage policy decided.
// - the values that a rule wanted as an address and that were none.
// - to its domain: the outcome, or "unmatched" if no rule applied.
// Peeks and requests past their deadline add nothing.
class Metrics : public DecisionObserver {
 public:
  // A call has arrived, and is in flight until CountFinish.
  virtual void CountArrival() = 0;
  // A call that arrived `duration_ns` ago has been answered. Below 0 is 0.
  virtual void CountFinish(int64_t duration_ns) = 0;
  // A request was turned away undecided: its deadline had passed, or too many
  // calls were in flight.
  virtual void CountExpired() = 0;
  virtual void CountOverload() = 0;
  virtual void CountLongQueue() = 0;
  // A request was outside the bounds of the proto.
  virtual void CountInvalid() = 0;
  // A client began (+1) or ceased (-1) to watch the policy.
  virtual void CountWatchers(int change) = 0;
  // Connections to the gRPC port: one more (+1) or one fewer (-1) is open, one
  // was reset at once, one was cut.
  virtual void CountConnections(int change) = 0;
  virtual void CountConnectionRefused(ConnectionRefusal reason) = 0;
  virtual void CountConnectionKilled(ConnectionKill reason) = 0;
  // How often a rule's overflow bucket was shared, and how often its outage
  // policy decided, of all rules since the start.
  [[nodiscard]] virtual uint64_t overflow_count() const = 0;
  [[nodiscard]] virtual uint64_t outage_count() const = 0;
  // Rules were loaded again, or could not be.
  virtual void CountReloadSuccess() = 0;
  virtual void CountReloadFailure() = 0;
  // How the rules were last loaded, also at the start, and when (since the Unix
  // epoch).
  virtual void SetLastReload(ReloadResult result, int64_t at_ns) = 0;
  // The state file gave back so many buckets at the start; it was written with
  // the state of `at_ns`; it could not be.
  virtual void SetStateRestored(uint64_t buckets) = 0;
  virtual void CountStateSaved(int64_t at_ns) = 0;
  virtual void CountStateSaveFailure() = 0;
  // The same counts for other readers than Prometheus.
  [[nodiscard]] virtual RuleCounts rule_counts(const RuleId& rule) const = 0;
  [[nodiscard]] virtual ServiceCounts service_counts() const = 0;
  [[nodiscard]] virtual ConnectionCounts connection_counts() const = 0;
  [[nodiscard]] virtual StateCounts state_counts() const = 0;
  // The hash of the rules in force; empty until there are any.
  virtual void SetRulesHash(absl::string_view hash) = 0;

  // Everything in the text format 0.0.4 (its media type is
  // "text/plain; version=0.0.4"). About 1 microsecond a series.
  [[nodiscard]] virtual std::string Serialize(
      const BucketTotals& buckets) const = 0;
};

[[nodiscard]] std::unique_ptr<Metrics> MakeMetrics(MetricsOptions options);

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_METRICS_METRICS_H_
