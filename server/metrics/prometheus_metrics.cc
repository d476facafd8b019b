#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "prometheus/metric_family.h"
#include "prometheus/text_serializer.h"
#include "server/base/mutex.h"
#include "server/limiter/registry.h"
#include "server/limiter/rule_set.h"
#include "server/metrics/call_counters.h"
#include "server/metrics/client_metrics.h"
#include "server/metrics/connection_counters.h"
#include "server/metrics/metrics.h"
#include "server/metrics/process_families.h"
#include "server/metrics/refused_families.h"
#include "server/metrics/reload_counters.h"
#include "server/metrics/sharded_counters.h"
#include "server/metrics/state_counters.h"
#include "server/metrics/store_families.h"

namespace tollgate {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

// Columns of a rule's row.
enum RuleColumn : size_t {
  kRuleAllowed,
  kRuleRefused,
  kRuleShadowRefused,
  kRuleImpossible,
  kRuleOutcomeColumns,
  kRuleOverflow = kRuleOutcomeColumns,
  kRuleOutage,
  kRuleColumns,
};
constexpr std::array<const char*, kRuleOutcomeColumns> kRuleOutcomes = {
    "allowed", "refused", "shadow_refused", "impossible"};

// Columns of a domain's row.
enum DomainColumn : size_t {
  kDomainAllowed,
  kDomainRefused,
  kDomainImpossible,
  kDomainUnmatched,
  kDomainColumns,
};
constexpr std::array<const char*, kDomainColumns> kDomainOutcomes = {
    "allowed", "refused", "impossible", "unmatched"};
// Requests for a domain that no rule names.
constexpr char kUnknownDomain[] = "_unknown";

// Columns of the one row of the service's totals.
enum TotalColumn : size_t {
  kUnknownDomainRequests,
  kUnparsableAddresses,
  kOverflow,
  kOutage,
  kTotalColumns,
};

// The rules in force, as a scrape shows them.
struct InForce {
  struct RuleRow {
    size_t row = 0;
    std::string domain;
    std::string rule;
  };
  struct DomainRow {
    size_t row = 0;
    std::string domain;
  };
  std::vector<RuleRow> rules;
  std::vector<DomainRow> domains;
};

double ToDouble(uint64_t value) { return static_cast<double>(value); }

class PrometheusMetrics final : public Metrics {
 public:
  explicit PrometheusMetrics(MetricsOptions options)
      : options_(std::move(options)),
        in_force_(std::make_shared<const InForce>()) {
    totals_.Grow(1);
  }

  void OnRules(const RuleSet& rules) override;
  void OnDecision(const Decision& decision) override;

  void CountArrival() override { calls_.CountArrival(); }
  void CountFinish(int64_t duration_ns) override {
    calls_.CountFinish(duration_ns);
  }
  void CountExpired() override { calls_.CountExpired(); }
  void CountOverload() override { calls_.CountOverload(); }
  void CountLongQueue() override { calls_.CountLongQueue(); }
  void CountInvalid() override { calls_.CountInvalid(); }
  void CountWatchers(int change) override { calls_.CountWatchers(change); }
  void CountConnections(int change) override { connections_.Count(change); }
  void CountConnectionRefused(ConnectionRefusal reason) override {
    connections_.CountRefused(reason);
  }
  void CountConnectionKilled(ConnectionKill reason) override {
    connections_.CountKilled(reason);
  }
  [[nodiscard]] uint64_t overflow_count() const override {
    return Total(kOverflow);
  }
  [[nodiscard]] uint64_t outage_count() const override {
    return Total(kOutage);
  }
  void CountReloadSuccess() override { reloads_.CountSuccess(); }
  void CountReloadFailure() override { reloads_.CountFailure(); }
  void SetLastReload(ReloadResult result, int64_t at_ns) override {
    reloads_.SetLast(result, at_ns);
  }
  void SetStateRestored(uint64_t buckets) override {
    state_.SetRestored(buckets);
  }
  void CountStateSaved(int64_t at_ns) override { state_.CountSaved(at_ns); }
  void CountStateSaveFailure() override { state_.CountFailure(); }
  [[nodiscard]] RuleCounts rule_counts(const RuleId& rule) const override;
  [[nodiscard]] ServiceCounts service_counts() const override {
    return calls_.counts();
  }
  [[nodiscard]] ConnectionCounts connection_counts() const override {
    return connections_.counts();
  }
  [[nodiscard]] StateCounts state_counts() const override {
    return state_.counts();
  }
  void SetRulesHash(absl::string_view hash) override { reloads_.SetHash(hash); }

  [[nodiscard]] std::string Serialize(
      const BucketTotals& buckets) const override;

 private:
  using Families = std::vector<MetricFamily>;

  void AddDecisions(Families& out, const InForce& in_force) const;
  void AddRequests(Families& out, const InForce& in_force) const;
  void AddBuckets(Families& out, const InForce& in_force,
                  const BucketTotals& buckets) const;
  void AddService(Families& out) const;
  [[nodiscard]] uint64_t Total(size_t column) const {
    return totals_.Sum(0, column);
  }

  const MetricsOptions options_;
  ShardedCounters rules_{kRuleColumns, 1024};
  ShardedCounters domains_{kDomainColumns, 64};
  ShardedCounters totals_{kTotalColumns, 1};
  CallCounters calls_;
  ConnectionCounters connections_;
  ReloadCounters reloads_;
  StateCounters state_;
  mutable Mutex mutex_;
  std::shared_ptr<const InForce> in_force_ ABSL_GUARDED_BY(mutex_);
};

void PrometheusMetrics::OnRules(const RuleSet& rules) {
  auto next = std::make_shared<InForce>();
  for (const auto& domain : rules.domains()) {
    next->domains.push_back({domain->id->index, domain->name});
    domains_.Grow(domain->id->index + size_t{1});
    for (const BoundRule& rule : domain->rules) {
      next->rules.push_back({rule.id->index, domain->name, rule.id->name});
      rules_.Grow(rule.id->index + size_t{1});
    }
    // A domain may have a rule of that name: a series must not occur twice.
    const RuleId* const overrides = domain->overrides.id;
    if (std::none_of(domain->rules.begin(), domain->rules.end(),
                     [&](const BoundRule& r) { return r.id == overrides; })) {
      next->rules.push_back({overrides->index, domain->name, overrides->name});
      rules_.Grow(overrides->index + size_t{1});
    }
  }
  const auto by_row = [](const auto& a, const auto& b) {
    return a.row < b.row;
  };
  std::sort(next->rules.begin(), next->rules.end(), by_row);
  std::sort(next->domains.begin(), next->domains.end(), by_row);
  std::shared_ptr<const InForce> shown = std::move(next);
  MutexLock lock(mutex_);
  in_force_.swap(shown);
}

// What the statuses [i, end) of one rule add up to.
RuleColumn WorstOf(const RuleStatus* i, const RuleStatus* end) {
  RuleColumn worst = kRuleAllowed;
  for (; i != end; ++i) {
    if (i->outcome == Outcome::kAllowed) continue;
    if (i->shadow) return kRuleShadowRefused;
    if (i->outcome == Outcome::kImpossible) return kRuleImpossible;
    worst = kRuleRefused;
  }
  return worst;
}

void PrometheusMetrics::OnDecision(const Decision& decision) {
  if (decision.peek || decision.outcome == Outcome::kExpired ||
      decision.outcome == Outcome::kOverridden) {
    return;
  }
  if (decision.bad_addresses > 0) {
    totals_.Add(0, kUnparsableAddresses, decision.bad_addresses);
  }
  const RuleStatus* const end =
      decision.statuses.data() + decision.statuses.size();
  for (const RuleStatus* i = decision.statuses.data(); i != end;) {
    // A rule's buckets follow each other, since rules come in their order, or
    // descriptors in theirs.
    const RuleStatus* const next =
        std::find_if(i, end, [&](const RuleStatus& s) {
          return s.rule != i->rule ||
                 (decision.by_descriptor && s.descriptor != i->descriptor);
        });
    const RuleColumn column = WorstOf(i, next);
    // What is only looked at or given back takes no tokens.
    if (column != kRuleAllowed ||
        (decision.allowed() && i->action == BucketAction::kTake)) {
      rules_.Add(i->rule->index, column);
    }
    if (std::any_of(i, next, [](const RuleStatus& s) { return s.overflow; })) {
      rules_.Add(i->rule->index, kRuleOverflow);
      totals_.Add(0, kOverflow);
    }
    if (std::any_of(i, next, [](const RuleStatus& s) { return s.outage; })) {
      rules_.Add(i->rule->index, kRuleOutage);
      totals_.Add(0, kOutage);
    }
    i = next;
  }
  if (decision.domain == nullptr) {
    totals_.Add(0, kUnknownDomainRequests);
    return;
  }
  DomainColumn column = kDomainUnmatched;
  if (decision.outcome == Outcome::kRefused) {
    column = kDomainRefused;
  } else if (decision.outcome == Outcome::kImpossible) {
    column = kDomainImpossible;
  } else if (!decision.statuses.empty()) {
    column = kDomainAllowed;
  }
  domains_.Add(decision.domain->index, column);
}

RuleCounts PrometheusMetrics::rule_counts(const RuleId& rule) const {
  const auto sum = [&](size_t column) {
    return rules_.Sum(rule.index, column);
  };
  return {.allowed = sum(kRuleAllowed),
          .refused = sum(kRuleRefused),
          .shadow_refused = sum(kRuleShadowRefused),
          .impossible = sum(kRuleImpossible),
          .overflow = sum(kRuleOverflow)};
}

std::string PrometheusMetrics::Serialize(const BucketTotals& buckets) const {
  std::shared_ptr<const InForce> in_force;
  {
    MutexLock lock(mutex_);
    in_force = in_force_;
  }
  Families out;
  AddDecisions(out, *in_force);
  AddRequests(out, *in_force);
  AddService(out);
  reloads_.AddFamilies(out);
  AddBuckets(out, *in_force, buckets);
  if (buckets.refused != nullptr) AddRefusedFamilies(*buckets.refused, out);
  connections_.AddFamilies(out);
  if (buckets.store != nullptr) AddStoreFamilies(*buckets.store, out);
  state_.AddFamilies(out);
  AddProcessFamilies(out);
  return prometheus::TextSerializer().Serialize(out);
}

void PrometheusMetrics::AddBuckets(Families& out, const InForce& in_force,
                                   const BucketTotals& buckets) const {
  out.push_back({"tollgate_buckets",
                 "Buckets remembered now.",
                 MetricType::Gauge,
                 {GaugeOf(ToDouble(buckets.buckets))}});
  out.push_back({"tollgate_max_buckets",
                 "Buckets remembered at most.",
                 MetricType::Gauge,
                 {GaugeOf(ToDouble(buckets.max_buckets))}});
  out.push_back({"tollgate_buckets_swept_total",
                 "Buckets forgotten because they were full again.",
                 MetricType::Counter,
                 {CounterOf(buckets.swept)}});
  const auto add = [&](const char* name, const char* help, RuleColumn column) {
    MetricFamily& family = out.emplace_back();
    family.name = name;
    family.help = help;
    family.type = MetricType::Counter;
    family.metric.reserve(in_force.rules.size());
    for (const InForce::RuleRow& rule : in_force.rules) {
      family.metric.push_back(
          CounterOf(rules_.Sum(rule.row, column),
                    {{"domain", rule.domain}, {"rule", rule.rule}}));
    }
  };
  add("tollgate_overflow_total",
      "Requests of keys for which there was no room, so that they shared the "
      "rule's overflow bucket, without peeks.",
      kRuleOverflow);
  add("tollgate_outage_decisions_total",
      "Requests that a rule's outage policy decided, since the store was out "
      "of reach, without peeks.",
      kRuleOutage);
}

void PrometheusMetrics::AddDecisions(Families& out,
                                     const InForce& in_force) const {
  MetricFamily& family = out.emplace_back();
  family.name = "tollgate_decisions_total";
  family.help =
      "What each rule in force said of the requests it applied to, without "
      "peeks. A rule counts as allowed only if the whole request was.";
  family.type = MetricType::Counter;
  family.metric.reserve(in_force.rules.size() * kRuleOutcomeColumns);
  for (const InForce::RuleRow& rule : in_force.rules) {
    for (size_t column = 0; column < kRuleOutcomeColumns; ++column) {
      family.metric.push_back(CounterOf(rules_.Sum(rule.row, column),
                                        {{"domain", rule.domain},
                                         {"rule", rule.rule},
                                         {"outcome", kRuleOutcomes[column]}}));
    }
  }
}

void PrometheusMetrics::AddRequests(Families& out,
                                    const InForce& in_force) const {
  MetricFamily& family = out.emplace_back();
  family.name = "tollgate_requests_total";
  family.help =
      "Requests decided, without peeks. Unmatched ones met no rule and were "
      "allowed; _unknown stands for every domain that no rule names.";
  family.type = MetricType::Counter;
  uint64_t unknown = Total(kUnknownDomainRequests);
  bool unknown_shown = false;
  for (const InForce::DomainRow& domain : in_force.domains) {
    for (size_t column = 0; column < kDomainColumns; ++column) {
      uint64_t value = domains_.Sum(domain.row, column);
      // A rule file may use that very name: a series must not occur twice.
      if (domain.domain == kUnknownDomain && column == kDomainUnmatched) {
        value += unknown;
        unknown_shown = true;
      }
      family.metric.push_back(CounterOf(
          value,
          {{"domain", domain.domain}, {"outcome", kDomainOutcomes[column]}}));
    }
  }
  if (!unknown_shown) {
    family.metric.push_back(
        CounterOf(unknown, {{"domain", kUnknownDomain},
                            {"outcome", kDomainOutcomes[kDomainUnmatched]}}));
  }
}

void PrometheusMetrics::AddService(Families& out) const {
  calls_.AddFamilies(out);
  out.push_back({"tollgate_unparsable_addresses_total",
                 "Values that a rule wanted as an IP address and that were "
                 "none.",
                 MetricType::Counter,
                 {CounterOf(Total(kUnparsableAddresses))}});
  out.push_back({"tollgate_build_info",
                 "The program's version; always 1.",
                 MetricType::Gauge,
                 {GaugeOf(1, {{"version", options_.version}})}});
}

}  // namespace

std::unique_ptr<Metrics> MakeMetrics(MetricsOptions options) {
  return std::make_unique<PrometheusMetrics>(std::move(options));
}

}  // namespace tollgate
