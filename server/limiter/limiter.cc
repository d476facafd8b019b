#include "server/limiter/limiter.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"

namespace tollgate {
namespace {

// One bucket that a request selects.
struct Charge {
  const BoundRule* rule = nullptr;
  uint32_t position = 0;  // of the rule in its domain
  uint32_t slot = 0;      // of the limit in its rule
  Fingerprint fingerprint;
  uint64_t cost = 0;
  bool impossible = false;  // the cost is above the bucket's capacity
  bool taken = false;

  [[nodiscard]] const Limit& limit() const { return rule->rule.limits[slot]; }
  [[nodiscard]] uint32_t limit_id() const { return rule->limit_ids[slot]; }
  [[nodiscard]] const Algorithm& algorithm() const {
    return *rule->rule.algorithm;
  }
  [[nodiscard]] bool shadow() const { return rule->rule.mode == Mode::kShadow; }
};

using Charges = absl::InlinedVector<Charge, 4>;

// Adds a charge for each limit of `rule`, unless another descriptor already
// selected the same buckets.
void AddCharges(const BoundRule& rule, uint32_t position, uint64_t cost,
                absl::string_view key, Charges& charges) {
  const Fingerprint base = KeyedHash(rule.hash_key, key);
  for (const Charge& charge : charges) {
    if (charge.rule == &rule && charge.fingerprint == base) return;
  }
  for (uint32_t slot = 0; slot < rule.limit_ids.size(); ++slot) {
    // Filled in place: a copy would stall on its own fresh stores.
    Charge& charge = charges.emplace_back();
    charge.rule = &rule;
    charge.position = position;
    charge.slot = slot;
    charge.fingerprint = Fingerprint{base.hi, base.lo + slot};
    charge.cost = cost * rule.rule.cost;  // both below 2^32
    charge.impossible =
        charge.cost > rule.rule.algorithm->Capacity(charge.limit());
  }
}

// Every bucket that the request selects, in the order of the rules.
Charges Select(const Request& request, const DomainRules& domain) {
  Charges charges;
  const uint64_t cost = std::max<uint64_t>(request.cost, 1);
  MatchIndex::Positions positions;
  MatchIndex::Scratch scratch;
  for (const Descriptor& descriptor : request.descriptors) {
    const ResolvedDescriptor resolved = domain.index.Resolve(descriptor);
    positions.clear();
    domain.index.Match(resolved, positions);
    for (const uint32_t position : positions) {
      AddCharges(domain.rules[position], position, cost,
                 domain.index.KeyOf(position, resolved, scratch), charges);
    }
  }
  if (request.descriptors.size() > 1) {
    std::sort(charges.begin(), charges.end(),
              [](const Charge& a, const Charge& b) {
                return std::tie(a.position, a.fingerprint.hi, a.slot) <
                       std::tie(b.position, b.fingerprint.hi, b.slot);
              });
  }
  return charges;
}

// Carries `state`, kept under the limit `from`, through the reloads since, each
// at its own moment, until the limit is `to_id` or in force. Returns the limit
// that it is kept under then.
const LimitVersion& CarryOver(const Registry& registry,
                              const LimitVersion& from, uint32_t to_id,
                              BucketState& state) {
  const LimitVersion* at = &from;
  const LimitVersion* const target = &registry.Version(to_id);
  while (at != target) {
    const uint32_t successor = at->successor.load(std::memory_order_acquire);
    if (successor == 0) break;
    const LimitVersion& next = registry.Version(successor);
    next.algorithm->Rescale(state, at->limit, next.limit, at->replaced_at_ns);
    at = &next;
  }
  return *at;
}

// The buckets of one request, one lock at a time.
class Buckets {
 public:
  Buckets(BucketTable& table, const Registry& registry, int64_t now_ns)
      : table_(table), registry_(registry), now_ns_(now_ns) {}

  Verdict Take(const Charge& charge) {
    const LockedBucket bucket = table_.FindOrCreate(charge.fingerprint);
    BringUpToDate(bucket.state(), bucket.limit_id(), charge);
    return charge.algorithm().Take(bucket.state(), charge.limit(), charge.cost,
                                   std::max(now_ns_, bucket.not_before_ns()));
  }

  // Creates no state and changes none. An impossible cost is looked up as 1.
  Verdict Peek(const Charge& charge) {
    BucketState state;
    if (const auto bucket = table_.Find(charge.fingerprint)) {
      state = bucket->state();
      uint32_t limit_id = bucket->limit_id();
      BringUpToDate(state, limit_id, charge);
    }
    return charge.algorithm().Peek(
        state, charge.limit(), charge.impossible ? 1 : charge.cost, now_ns_);
  }

  void Refund(const Charge& charge) {
    const auto bucket = table_.Find(charge.fingerprint);
    if (!bucket.has_value()) return;  // forgotten: it is full already
    BringUpToDate(bucket->state(), bucket->limit_id(), charge);
    charge.algorithm().Refund(bucket->state(), charge.limit(), charge.cost,
                              now_ns_);
  }

 private:
  void BringUpToDate(BucketState& state, uint32_t& limit_id,
                     const Charge& charge) {
    const uint32_t wanted = charge.limit_id();
    if (limit_id == wanted) return;
    if (limit_id != 0) {
      const LimitVersion& now_under =
          CarryOver(registry_, registry_.Version(limit_id), wanted, state);
      if (now_under.limit != charge.limit()) {
        charge.algorithm().Rescale(state, now_under.limit, charge.limit(),
                                   now_ns_);
      }
    }
    limit_id = wanted;
  }

  BucketTable& table_;
  const Registry& registry_;
  const int64_t now_ns_;
};

void FillStatus(const Charge& charge, const Verdict& verdict,
                RuleStatus& status) {
  status.rule = charge.rule->id;
  status.limit = charge.limit();
  status.shadow = charge.shadow();
  status.remaining = verdict.remaining;
  status.reset_after_ns = verdict.reset_after_ns;
  status.retry_after_ns = 0;
  if (charge.impossible) {
    status.outcome = Outcome::kImpossible;
  } else if (verdict.allowed) {
    status.outcome = Outcome::kAllowed;
  } else {
    status.outcome = Outcome::kRefused;
    status.retry_after_ns = verdict.retry_after_ns;
  }
}

// Lets a refusal of an enforced rule count for the whole request.
void Count(const RuleStatus& status, Decision& decision) {
  if (status.shadow || status.outcome == Outcome::kAllowed) return;
  if (status.outcome == Outcome::kImpossible) {
    decision.outcome = Outcome::kImpossible;
    decision.retry_after_ns = 0;
  } else if (decision.outcome != Outcome::kImpossible) {
    decision.outcome = Outcome::kRefused;
    decision.retry_after_ns =
        std::max(decision.retry_after_ns, status.retry_after_ns);
  }
}

void GiveBack(Buckets& buckets, Charges& charges, Decision& decision) {
  for (size_t i = decision.statuses.size(); i-- > 0;) {
    if (!charges[i].taken) continue;
    buckets.Refund(charges[i]);
    charges[i].taken = false;
    FillStatus(charges[i], buckets.Peek(charges[i]), decision.statuses[i]);
    Count(decision.statuses[i], decision);
  }
}

void Settle(Buckets& buckets, Charges& charges, Decision& decision) {
  const bool impossible =
      std::any_of(charges.begin(), charges.end(), [](const Charge& charge) {
        return charge.impossible && !charge.shadow();
      });
  bool taking = !decision.peek && !impossible;
  for (Charge& charge : charges) {
    const bool take = taking && !charge.impossible;
    const Verdict verdict = take ? buckets.Take(charge) : buckets.Peek(charge);
    charge.taken = take && verdict.allowed;
    RuleStatus& status = decision.statuses.emplace_back();
    FillStatus(charge, verdict, status);
    Count(status, decision);
    if (taking && !decision.allowed()) {
      taking = false;
      GiveBack(buckets, charges, decision);
    }
  }
}

}  // namespace

Limiter::Limiter(const Clock& clock, LimiterOptions options)
    : clock_(clock),
      options_(options),
      table_(options.stripes),
      rules_(std::make_shared<const RuleSet>()) {}

absl::Status Limiter::SetRules(RuleSet rules) {
  MutexLock lock(set_rules_mutex_);
  absl::Status status =
      rules.Bind(registry_, options_.hash_key, clock_.NowNs());
  if (!status.ok()) return status;
  if (options_.observer != nullptr) options_.observer->OnRules(rules);
  rules_.Set(std::make_shared<const RuleSet>(std::move(rules)));
  return absl::OkStatus();
}

Decision Limiter::Decide(const Request& request) {
  const RuleSet& rules = rules_.Get();
  const int64_t now_ns = clock_.NowNs();
  Decision decision;
  decision.peek = request.cost == 0;
  const DomainRules* domain = rules.FindDomain(request.domain);
  if (domain != nullptr) decision.domain = domain->id;
  if (now_ns > request.deadline_ns) {
    decision.outcome = Outcome::kExpired;
  } else if (domain != nullptr) {
    Charges charges = Select(request, *domain);
    Buckets buckets(table_, registry_, now_ns);
    Settle(buckets, charges, decision);
  }
  if (options_.observer != nullptr) options_.observer->OnDecision(decision);
  return decision;
}

size_t Limiter::Sweep(size_t max_buckets) {
  const int64_t now_ns = clock_.NowNs();
  return table_.Sweep(
      max_buckets, now_ns, [&](BucketState state, uint32_t limit_id) {
        const LimitVersion& under = CarryOver(
            registry_, registry_.Version(limit_id), /*to_id=*/0, state);
        return under.algorithm->IsForgettable(state, under.limit, now_ns);
      });
}

}  // namespace tollgate
