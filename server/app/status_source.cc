#include "server/app/status_source.h"

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/limiter/rule_set.h"
#include "server/limiter/rule_text.h"
#include "server/metrics/process_stats.h"

namespace tollgate {
namespace {

// A rule in force and what it has said.
struct Counted {
  const BoundRule* rule;
  RuleCounts counts;
  size_t position;
};

uint64_t Refusals(const RuleCounts& counts) {
  return counts.refused + counts.shadow_refused + counts.impossible;
}

// Of equal ones, the first of the rule files comes first.
bool RefusesMore(const Counted& a, const Counted& b) {
  const uint64_t refusals_a = Refusals(a.counts);
  const uint64_t refusals_b = Refusals(b.counts);
  return std::tie(refusals_a, a.counts.allowed, b.position) >
         std::tie(refusals_b, b.counts.allowed, a.position);
}

std::string Join(const Rule& rule, const std::vector<Limit>& limits) {
  return absl::StrJoin(limits, ", ", [&](std::string* out, const Limit& limit) {
    out->append(LimitText(rule, limit));
  });
}

std::string LimitsText(const Rule& rule) {
  if (rule.node.has_value()) return absl::StrJoin(LimitTexts(*rule.node), ", ");
  if (rule.limits.empty() && !rule.tier.has_value() && !rule.unlimited) {
    return "as requests say";
  }
  if (rule.unlimited) return "unlimited";
  if (!rule.tier.has_value()) return Join(rule, rule.limits);
  return absl::StrJoin(
      rule.tier->limits, "; ", [&](std::string* out, const auto& tier) {
        absl::StrAppend(out, tier.first, ": ", Join(rule, tier.second));
      });
}

ShownRule Show(const Counted& counted) {
  const Rule& rule = counted.rule->rule;
  return {.domain = rule.domain,
          .rule = rule.name,
          .limits = LimitsText(rule),
          .mode = ModeText(rule),
          .counts = counted.counts};
}

std::string ModeName(RefusedKeysOptions::Mode mode) {
  return mode == RefusedKeysOptions::Mode::kHashed ? "hashed" : "on";
}

}  // namespace

void StatusSource::ReadRules(const RuleSet& rules, ServiceStatus& out) const {
  std::vector<Counted> all;
  all.reserve(rules.size());
  for (const auto& domain : rules.domains()) {
    for (const BoundRule& rule : domain->rules) {
      all.push_back({&rule, metrics_.rule_counts(*rule.id), all.size()});
    }
    // The limits that requests bring along, once there were any. A domain may
    // have a rule of that name, which counts for both.
    const BoundRule& own = domain->overrides;
    const RuleCounts counts = metrics_.rule_counts(*own.id);
    if (Refusals(counts) + counts.allowed > 0 &&
        std::none_of(domain->rules.begin(), domain->rules.end(),
                     [&](const BoundRule& r) { return r.id == own.id; })) {
      all.push_back({&own, counts, all.size()});
    }
  }
  const size_t shown = std::min(all.size(), kMaxShownRules);
  std::partial_sort(all.begin(),
                    all.begin() + static_cast<std::ptrdiff_t>(shown), all.end(),
                    RefusesMore);
  out.rules_left_out = all.size() - shown;
  all.resize(shown);
  out.rules.reserve(shown);
  for (const Counted& counted : all) out.rules.push_back(Show(counted));
}

void StatusSource::ReadKeys(ServiceStatus& out) const {
  // The report's own bound is 5000 keys. A key of a rule that is left out may
  // be refused more often than the last one that is shown, but not more often
  // than the rule, and a hundred rules are refused more than that.
  constexpr size_t kMaxRules = 100;
  const auto report = limiter_.ReportRefusedKeys(
      {.max_rules = kMaxRules, .max_keys = kMaxShownKeys + 1});
  out.refused_mode = report ? ModeName(report->options.mode) : "off";
  if (!report.has_value()) return;
  out.half_life_s = absl::ToInt64Seconds(report->options.half_life);
  out.refused_missed = report->missed;
  out.keys_left_out = report->rules_left_out > 0;
  for (const RefusedRule& rule : report->rules) {
    for (const HeavyKey& key : rule.keys) {
      out.keys.push_back({.domain = rule.rule->domain->name,
                          .rule = rule.rule->name,
                          .key = key.text,
                          .count = key.count,
                          .error = key.error,
                          .share = static_cast<double>(key.count) /
                                   static_cast<double>(rule.total),
                          .last_ns = key.last_ns,
                          .shadow = key.shadow});
    }
  }
  std::stable_sort(
      out.keys.begin(), out.keys.end(),
      [](const ShownKey& a, const ShownKey& b) { return a.count > b.count; });
  if (out.keys.size() <= kMaxShownKeys) return;
  out.keys.resize(kMaxShownKeys);
  out.keys_left_out = true;
}

ShownMemory StatusSource::ReadMemory() const {
  const ProcessStats process = ReadProcessStats();
  return {
      .buckets = limiter_.bucket_count(),
      .max_buckets = limiter_.max_buckets(),
      .swept = limiter_.swept_count(),
      .overflow = metrics_.overflow_count(),
      .resident_bytes = static_cast<uint64_t>(process.resident_memory_bytes),
      .open_fds = static_cast<uint64_t>(process.open_fds)};
}

ServiceStatus StatusSource::Read() const {
  ServiceStatus out;
  out.at_ns = clock_.NowNs();
  out.started_ns = started_ns_;
  out.version = options_.version;
  out.readiness = options_.readiness();
  RuleLoad load = rules_.last_load();
  if (load.in_force.rules != nullptr) {
    out.load.rules = load.in_force.rules->size();
    ReadRules(*load.in_force.rules, out);
  }
  out.load.ok = load.ok;
  out.load.at_ns = load.at_ns;
  out.load.error = std::move(load.failure);
  out.load.hash = std::move(load.in_force.hash);
  ReadKeys(out);
  out.memory = ReadMemory();
  out.service = metrics_.service_counts();
  out.max_in_flight = options_.max_in_flight;
  out.connections = metrics_.connection_counts();
  out.max_connections = options_.max_connections;
  out.store = options_.store();
  out.store.outage = metrics_.outage_count();
  out.has_state_file = options_.has_state_file;
  out.state_file = metrics_.state_counts();
  return out;
}

}  // namespace tollgate
