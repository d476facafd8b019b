#include "client/outage_rules.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/strip.h"
#include "client/core_decision.h"
#include "client/outage_refusal.h"
#include "client/request_view.h"
#include "server/limiter/rule_set.h"

namespace tollgate::client {
namespace {

// Buckets of what the service granted, about 7 MB of them; beyond, an outage
// begins with full buckets for further keys.
constexpr size_t kMaxMirrored = 131'072;
// Buckets in all, about 59 MB: an outage must not let a flood of keys take the
// memory of a process whose work is another. Beyond it keys share, as in the
// service.
constexpr size_t kMaxBuckets = size_t{1} << 20;
// Each so many calls so many buckets are looked at, which keeps up with two new
// ones for each call.
constexpr uint32_t kSweepCalls = 64;
constexpr size_t kSweepBuckets = 256;

// Tickets begin with this, which the service's do not.
constexpr absl::string_view kTicket = "tollgate backstop ticket:";

std::string TicketOf(const tollgate::Decision& decided) {
  if (decided.slots.empty()) return "";
  std::string ticket(kTicket);
  for (const HeldSlots& slots : decided.slots) {
    ticket.append(reinterpret_cast<const char*>(&slots), sizeof(slots));
  }
  return ticket;
}

// An allow-list may name rules that are not pushed. One that names no other
// takes out nothing, so it names itself: no name at all would mean all.
void DropUnknownSkips(std::vector<Rule>& rules) {
  absl::flat_hash_set<std::pair<std::string, std::string>> names;
  for (const Rule& rule : rules) names.emplace(rule.domain, rule.name);
  for (Rule& rule : rules) {
    if (rule.skips.empty()) continue;
    const auto unknown = [&](const std::string& name) {
      return !names.contains({rule.domain, name});
    };
    rule.skips.erase(
        std::remove_if(rule.skips.begin(), rule.skips.end(), unknown),
        rule.skips.end());
    if (rule.skips.empty()) rule.skips = {rule.name};
  }
}

}  // namespace

OutageRules::OutageRules(const Clock& clock)
    : clock_(clock),
      limiter_(clock,
               LimiterOptions{.max_buckets = kMaxBuckets, .stripes = 64}),
      in_force_(std::make_shared<const InForce>()) {}

void OutageRules::OnPolicy(PolicyUpdate update) {
  const int64_t now_ns = clock_.NowNs();
  MutexLock lock(mutex_);
  stats_.connected = true;
  if (update.hash != stats_.hash) {
    version_.fetch_add(1, std::memory_order_relaxed);
  }
  if (update.rules.has_value()) {
    const absl::Status status = SetRules(*std::move(update.rules));
    if (!status.ok()) {
      ++stats_.errors;
      return;
    }
  }
  count_.Tell(update.clients, now_ns);
  clients_.store(count_.believed(), std::memory_order_relaxed);
  heard_at_ns_ = now_ns;
  stats_.hash = std::move(update.hash);
  stats_.clients = count_.believed();
  ++stats_.updates;
}

void OutageRules::OnPolicyLost(const absl::Status& status) {
  MutexLock lock(mutex_);
  stats_.connected = false;
  ++stats_.losses;
  if (absl::IsInvalidArgument(status)) ++stats_.errors;
  count_.Lose();
}

absl::Status OutageRules::SetRules(std::vector<Rule> rules) {
  auto next = std::make_shared<InForce>();
  for (const Rule& rule : rules) next->domains.insert(rule.domain);
  DropUnknownSkips(rules);
  absl::StatusOr<RuleSet> set = RuleSet::Create(std::move(rules));
  if (!set.ok()) return set.status();
  absl::Status status = limiter_.SetRules(*std::move(set));
  if (!status.ok()) return status;
  for (const auto& domain : limiter_.rules()->domains()) {
    for (const BoundRule& bound : domain->rules) {
      if (bound.rule.algorithm == &OutageRefusal()) {
        next->refuse.insert(bound.id);
      }
    }
  }
  // A call that reads between the two names its source by the older ones.
  in_force_.Set(std::move(next));
  return absl::OkStatus();
}

bool OutageRules::Covers(absl::string_view domain) const {
  return in_force_.Get().domains.contains(domain);
}

void OutageRules::Mirror(const Request& request) {
  if (!Covers(request.domain)) return;
  SweepSometimes();
  if (limiter_.bucket_count() >= kMaxMirrored) return;
  RequestView view(request);
  (*view).sharers = clients_.load(std::memory_order_relaxed);
  limiter_.Spend(*view);
}

Decision OutageRules::Decide(const Request& request) {
  SweepSometimes();
  RequestView view(request);
  const uint32_t clients = clients_.load(std::memory_order_relaxed);
  (*view).sharers = clients;
  const tollgate::Decision decided = limiter_.Decide(*view);
  Decision decision = ToClientDecision(decided);
  // Told as the share: what the limiter counts is the whole limit.
  for (RuleStatus& status : decision.statuses) {
    const uint64_t share =
        std::min<uint64_t>(clients, std::min(status.tokens, status.burst));
    if (share <= 1) continue;
    status.tokens /= share;
    status.burst /= share;
    status.remaining /= share;
  }
  decision.source = SourceOf(decided);
  if (decision.allowed) decision.ticket = TicketOf(decided);
  return decision;
}

Source OutageRules::SourceOf(const tollgate::Decision& decided) const {
  const InForce& in_force = in_force_.Get();
  Source source = Source::kOutagePolicy;
  for (const tollgate::RuleStatus& status : decided.statuses) {
    if (in_force.refuse.contains(status.rule)) return Source::kOutagePolicy;
    if (!status.unlimited) source = Source::kBackstop;
  }
  return source;
}

bool OutageRules::Release(const std::string& ticket) {
  absl::string_view rest = ticket;
  if (!absl::ConsumePrefix(&rest, kTicket)) return false;
  HeldSlots slots;
  for (; rest.size() >= sizeof(slots); rest.remove_prefix(sizeof(slots))) {
    std::memcpy(&slots, rest.data(), sizeof(slots));
    limiter_.Release(slots);
  }
  return true;
}

void OutageRules::SweepSometimes() {
  if (calls_.fetch_add(1, std::memory_order_relaxed) % kSweepCalls == 0) {
    limiter_.Sweep(kSweepBuckets);
  }
}

PolicyStats OutageRules::stats() const {
  const int64_t now_ns = clock_.NowNs();
  MutexLock lock(mutex_);
  PolicyStats stats = stats_;
  if (stats.updates > 0) stats.age = absl::Nanoseconds(now_ns - heard_at_ns_);
  return stats;
}

}  // namespace tollgate::client
