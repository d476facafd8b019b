#include "server/limiter/limiter.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "absl/types/span.h"
#include "server/limiter/buckets.h"
#include "server/limiter/charge.h"
#include "server/limiter/charge_status.h"
#include "server/limiter/descriptor_charge.h"
#include "server/limiter/descriptor_settlement.h"
#include "server/limiter/refusals.h"
#include "server/limiter/settlement.h"

namespace tollgate {
namespace {

void AddUnlimited(const Selection& selection, Decision& decision) {
  for (const BoundRule* rule : selection.unlimited) {
    RuleStatus& status = decision.statuses.emplace_back();
    status.rule = rule->id;
    status.unlimited = true;
    status.shadow = rule->rule.mode == Mode::kShadow;
  }
}

// A rule set has few of them, and a hot one does not hold its stripe.
constexpr size_t kOverflowStripes = 64;

std::unique_ptr<RefusedKeys> MakeRefusedKeys(
    const RefusedKeysOptions& options) {
  if (options.mode == RefusedKeysOptions::Mode::kOff) return nullptr;
  return std::make_unique<RefusedKeys>(options);
}

// Some unguessable start for names that must be unique.
uint64_t RandomNumber() { return KeyedHash(RandomHashKey(), "ticket").lo; }

}  // namespace

Limiter::Limiter(const Clock& clock, LimiterOptions options)
    : clock_(clock),
      options_(options),
      table_(options.stripes > 0 ? options.stripes
                                 : BucketTable::StripesFor(options.max_buckets),
             options.max_buckets),
      overflow_(kOverflowStripes),
      overrides_(registry_),
      rules_(std::make_shared<const RuleSet>()),
      next_ticket_(RandomNumber()),
      refused_keys_(MakeRefusedKeys(options.refused_keys)) {}

Limiter::~Limiter() {
  // States that own memory give it back.
  for (BucketTable* table : {&table_, &overflow_}) {
    table->Sweep(table->size(), 0, [&](BucketState& state, uint32_t limit_id) {
      const LimitVersion& under = registry_.Version(limit_id);
      under.algorithm->Trim(state, under.limit,
                            std::numeric_limits<int64_t>::max());
      return false;
    });
  }
}

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
  Decision decision;
  decision.peek = request.cost == 0;
  const DomainRules* domain = rules.FindDomain(request.domain);
  if (domain == nullptr) {
    ReadClock(request, decision);
  } else {
    decision.domain = domain->id;
    const uint64_t ticket = NewTicket(*domain);
    if (IsByDescriptor(request, *domain)) {
      DecideByDescriptor(request, *domain, ticket, decision);
    } else {
      DecideByRule(request, *domain, ticket, decision);
    }
  }
  Tell(decision);
  return decision;
}

bool Limiter::ReadClock(const Request& request, Decision& decision) {
  decision.decided_at_ns = clock_.NowNs();
  if (decision.decided_at_ns <= request.deadline_ns) return true;
  decision.outcome = Outcome::kExpired;
  return false;
}

void Limiter::DecideByRule(const Request& request, const DomainRules& domain,
                           uint64_t ticket, Decision& decision) {
  Selection selection = Select(request, domain, ticket);
  decision.bad_addresses = selection.bad_addresses;
  // Reading the clock takes about as long as fetching what the look-up will
  // touch first, so that is under way meanwhile.
  for (const Charge& charge : selection.charges) {
    table_.Prefetch(charge.fingerprint);
  }
  if (!ReadClock(request, decision)) return;
  Buckets buckets(table_, overflow_, registry_, decision.decided_at_ns);
  const bool refused = Settle(buckets, domain, selection, decision);
  Finish(request, selection, refused, decision);
}

void Limiter::DecideByDescriptor(const Request& request,
                                 const DomainRules& domain, uint64_t ticket,
                                 Decision& decision) {
  DescriptorSelection selection =
      SelectByDescriptor(request, domain, overrides_, ticket);
  decision.by_descriptor = domain.tree.has_value();
  decision.bad_addresses = selection.bad_addresses;
  for (const DescriptorCharge& charge : selection.charges) {
    if (charge.asks_bucket()) table_.Prefetch(charge.charge.fingerprint);
  }
  if (!ReadClock(request, decision)) return;
  if (selection.too_many_overrides) {
    decision.outcome = Outcome::kOverridden;
    return;
  }
  Buckets buckets(table_, overflow_, registry_, decision.decided_at_ns);
  Settle(buckets, selection, decision);
  Finish(request, selection, decision);
}

void Limiter::Tell(const Decision& decision) {
  if (options_.observer != nullptr) options_.observer->OnDecision(decision);
}

uint64_t Limiter::NewTicket(const DomainRules& domain) {
  return domain.has_tickets
             ? next_ticket_.fetch_add(1, std::memory_order_relaxed)
             : 0;
}

void Limiter::Finish(const Request& request, const Selection& selection,
                     bool refused, Decision& decision) {
  if (refused && refused_keys_ != nullptr && !decision.peek) {
    CountRefusals(request, selection.charges, decision, *refused_keys_);
  }
  AddUnlimited(selection, decision);
}

void Limiter::Finish(const Request& request,
                     const DescriptorSelection& selection,
                     const Decision& decision) {
  if (refused_keys_ != nullptr && !decision.peek) {
    CountRefusals(request, selection.charges, decision, *refused_keys_);
  }
}

Selection Limiter::SelectBuckets(const Request& request,
                                 const DomainRules& domain) {
  if (!IsByDescriptor(request, domain)) {
    return Select(request, domain, /*ticket=*/0);
  }
  Selection selection;
  for (const DescriptorCharge& c :
       SelectByDescriptor(request, domain, overrides_, /*ticket=*/0).charges) {
    if (c.asks_bucket()) selection.charges.push_back(c.charge);
  }
  return selection;
}

void Limiter::Spend(const Request& request) {
  const DomainRules* domain = rules_.Get().FindDomain(request.domain);
  if (domain == nullptr) return;
  Selection selection = SelectBuckets(request, *domain);
  Buckets buckets(table_, overflow_, registry_, clock_.NowNs());
  for (Charge& charge : selection.charges) {
    if (charge.impossible || charge.algorithm().TakesByTicket()) continue;
    buckets.Take(charge);
  }
}

Decision Limiter::Refund(const Request& request, int64_t taken_at_ns,
                         absl::Span<const Fingerprint> overflow) {
  const RuleSet& rules = rules_.Get();
  Decision decision;
  decision.peek = true;
  decision.decided_at_ns = clock_.NowNs();
  const DomainRules* domain = rules.FindDomain(request.domain);
  if (domain == nullptr) return decision;
  decision.domain = domain->id;
  Selection selection = SelectBuckets(request, *domain);
  Buckets buckets(table_, overflow_, registry_, decision.decided_at_ns);
  for (Charge& charge : selection.charges) {
    const BoundLimit* const shared = charge.limit->overflow.get();
    if (shared != nullptr &&
        std::find(overflow.begin(), overflow.end(), shared->shared_bucket) !=
            overflow.end()) {
      ShareOverflow(charge);
    }
    if (!charge.impossible && !charge.algorithm().TakesByTicket()) {
      buckets.Refund(charge, taken_at_ns);
    }
    FillStatus(charge, buckets.Peek(charge), decision.statuses.emplace_back());
  }
  return decision;
}

bool Limiter::Save(BucketTable::Cursor& cursor, int64_t at_ns,
                   SavedBuckets& out) {
  const size_t stripes = table_.stripe_count();
  if (cursor.stripe < stripes &&
      SaveBuckets(table_, registry_, cursor, at_ns, out)) {
    return true;
  }
  // The cursor goes on over the stripes of the buckets that keys share.
  cursor.stripe -= stripes;
  const bool more = SaveBuckets(overflow_, registry_, cursor, at_ns, out);
  cursor.stripe += stripes;
  return more;
}

bool Limiter::Release(const HeldSlots& slots) {
  // No key's bucket has the fingerprint of one that keys share.
  for (BucketTable* table : {&table_, &overflow_}) {
    const auto bucket = table->Find(slots.fingerprint);
    if (!bucket.has_value()) continue;
    const LimitVersion& under = registry_.Version(bucket->limit_id());
    if (!under.algorithm->TakesByTicket()) return false;
    const int64_t now_ns = clock_.NowNs();
    under.algorithm->Refund(bucket->state(), under.limit,
                            Ask{1, 0, slots.ticket}, now_ns, now_ns);
    return true;
  }
  return false;
}

size_t Limiter::Reset(const Request& request, absl::string_view rule) {
  const DomainRules* domain = rules_.Get().FindDomain(request.domain);
  if (domain == nullptr) return 0;
  Selection selection = SelectBuckets(request, *domain);
  Buckets buckets(table_, overflow_, registry_, clock_.NowNs());
  size_t count = 0;
  for (Charge& charge : selection.charges) {
    if (!rule.empty() && charge.rule->rule.name != rule) continue;
    if (charge.rule->rule.penalty.has_value()) buckets.ResetPenalty(charge);
    if (buckets.Reset(charge)) ++count;
  }
  return count;
}

std::optional<RefusedKeysReport> Limiter::ReportRefusedKeys(
    const RefusedKeysQuery& query) {
  if (refused_keys_ == nullptr) return std::nullopt;
  return refused_keys_->Report(query, clock_.NowNs());
}

size_t Limiter::Sweep(size_t max_buckets) {
  const int64_t now_ns = clock_.NowNs();
  if (refused_keys_ != nullptr) refused_keys_->Forget(now_ns);
  const auto forgettable = [&](BucketState& state, uint32_t& limit_id) {
    return IsForgettable(registry_, state, limit_id, now_ns);
  };
  if (overflow_.size() > 0) {
    overflow_.Sweep(max_buckets, now_ns, forgettable);
  }
  return table_.Sweep(max_buckets, now_ns, forgettable);
}

}  // namespace tollgate
