#include "server/limiter/charge.h"

#include <algorithm>
#include <tuple>

namespace tollgate {
namespace {

// Slots of a rule's limits are below this one, which is its penalty's.
constexpr uint32_t kPenaltySlot = 255;
static_assert(kMaxLimits < kPenaltySlot);

// Which of `named` the descriptor's entry names, or `fallback`'s; their count
// if neither does.
template <typename Named>
size_t Choose(const ResolvedDescriptor& descriptor, uint32_t entry,
              const Named& named, const std::string& fallback) {
  const absl::string_view* value = descriptor.Find(entry);
  size_t found = named.size();
  for (size_t i = 0; i < named.size(); ++i) {
    if (value != nullptr && named[i].first == *value) return i;
    if (named[i].first == fallback) found = i;
  }
  return found;
}

// The rule's limits for this descriptor; null if it has no tier for it.
const std::vector<BoundLimit>* LimitsFor(const BoundRule& rule,
                                         const ResolvedDescriptor& descriptor) {
  if (!rule.rule.tier.has_value()) return &rule.tiers[0];
  const size_t tier = Choose(descriptor, rule.tier_entry,
                             rule.rule.tier->limits, rule.rule.tier->fallback);
  return tier < rule.tiers.size() ? &rule.tiers[tier] : nullptr;
}

// The share, in percent, that this descriptor must leave; the largest if the
// rule says nothing of it.
uint32_t SharePercent(const BoundRule& rule,
                      const ResolvedDescriptor& descriptor) {
  const Reserve& reserve = *rule.rule.reserve;
  const size_t share =
      Choose(descriptor, rule.reserve_entry, reserve.shares, reserve.fallback);
  if (share < reserve.shares.size()) return reserve.shares[share].second;
  uint32_t largest = 0;
  for (const auto& [name, percent] : reserve.shares) {
    largest = std::max(largest, percent);
  }
  return largest;
}

// Whether the rule is a shadow for this key. A hash that is the same in every
// process decides a percentage, so that a client is treated one way everywhere.
bool IsShadow(const Rule& rule, absl::string_view key) {
  if (rule.mode == Mode::kShadow) return true;
  if (rule.enforce_percent == 100) return false;
  const Fingerprint hash = KeyedHash(DeriveHashKey(HashKey{}, rule.name), key);
  return (hash.hi >> 32) * 100 >> 32 >= rule.enforce_percent;
}

// Adds a charge for each limit of `rule` under descriptor `number`, unless
// another descriptor already selected the same buckets.
void AddCharges(const BoundRule& rule, uint32_t position, const Ask& ask,
                uint32_t number, const ResolvedDescriptor& descriptor,
                absl::string_view key, Selection& selection) {
  const std::vector<BoundLimit>* limits = LimitsFor(rule, descriptor);
  if (limits == nullptr) return;
  const Fingerprint base = KeyedHash(rule.hash_key, key);
  for (const Charge& charge : selection.charges) {
    if (charge.rule == &rule && charge.fingerprint == base) return;
  }
  const bool shadow = IsShadow(rule.rule, key);
  const uint64_t share =
      rule.rule.reserve.has_value() ? SharePercent(rule, descriptor) : 0;
  for (uint32_t slot = 0; slot < limits->size(); ++slot) {
    // Filled in place: a copy would stall on its own fresh stores.
    Charge& charge = selection.charges.emplace_back();
    charge.rule = &rule;
    charge.limit = &(*limits)[slot];
    charge.position = position;
    charge.slot = slot;
    charge.descriptor = number;
    charge.fingerprint = Fingerprint{base.hi, base.lo + slot};
    charge.ask.cost = ask.cost * rule.rule.cost;  // both below 2^32
    charge.ask.ticket = ask.ticket;
    if (share > 0) {
      charge.ask.reserved = (charge.limit->limit.burst() * share + 99) / 100;
    }
    charge.shadow = shadow;
    charge.impossible =
        charge.ask.cost + charge.ask.reserved > charge.limit->capacity;
  }
}

// As often a token may count under a limit of which that much is there, so that
// one request of `cost` is left to each of those who share it.
uint64_t MostSharers(const Limit& limit, uint64_t capacity, uint64_t cost) {
  return std::max<uint64_t>(std::min<uint64_t>(limit.tokens(), capacity) / cost,
                            1);
}

// Takes out what the allow-lists that apply take out.
void Skip(Selection& selection) {
  const auto skipped = [&](const Charge& charge) {
    return std::any_of(selection.unlimited.begin(), selection.unlimited.end(),
                       [&](const BoundRule* rule) {
                         return TakesOut(*rule, charge.position);
                       });
  };
  auto& charges = selection.charges;
  charges.erase(std::remove_if(charges.begin(), charges.end(), skipped),
                charges.end());
}

}  // namespace

bool TakesOut(const BoundRule& allow_list, uint32_t position) {
  if (allow_list.rule.mode == Mode::kShadow) return false;
  const auto& skips = allow_list.skips;
  return allow_list.rule.skips.empty() ||
         std::find(skips.begin(), skips.end(), position) != skips.end();
}

Selection Select(const Request& request, const DomainRules& domain,
                 uint64_t ticket) {
  Selection selection;
  Ask ask;
  ask.cost = std::max<uint64_t>(request.cost, 1);
  ask.ticket = ticket;
  MatchIndex::Positions positions;
  MatchIndex::Scratch scratch;
  for (uint32_t number = 0; number < request.descriptors.size(); ++number) {
    const ResolvedDescriptor resolved =
        domain.index.Resolve(request.descriptors[number]);
    positions.clear();
    domain.index.Match(resolved, positions);
    selection.bad_addresses += resolved.bad_addresses();
    for (const uint32_t position : positions) {
      const BoundRule& rule = domain.rules[position];
      if (rule.rule.unlimited) {
        auto& lists = selection.unlimited;
        if (std::find(lists.begin(), lists.end(), &rule) == lists.end()) {
          lists.push_back(&rule);
        }
      } else {
        AddCharges(rule, position, ask, number, resolved,
                   domain.index.KeyOf(position, resolved, scratch), selection);
      }
    }
  }
  if (!selection.unlimited.empty()) Skip(selection);
  if (request.sharers > 1) {
    for (Charge& charge : selection.charges) Share(request.sharers, charge);
  }
  if (request.descriptors.size() > 1) {
    std::sort(selection.charges.begin(), selection.charges.end(),
              [](const Charge& a, const Charge& b) {
                return std::tie(a.position, a.fingerprint.hi, a.slot) <
                       std::tie(b.position, b.fingerprint.hi, b.slot);
              });
  }
  return selection;
}

void Share(uint32_t sharers, Charge& charge) {
  charge.sharers = sharers;
  const BoundLimit& limit = *charge.limit;
  const uint64_t least = charge.rule->rule.cost;
  if (charge.ask.cost + charge.ask.reserved > limit.capacity) {
    charge.impossible = true;
    return;
  }
  const uint64_t times = std::min<uint64_t>(
      sharers, MostSharers(limit.limit, limit.capacity, least));
  charge.ask.cost *= times;  // the cost is at most the capacity, below 2^32
  charge.ask.reserved =
      std::min(charge.ask.reserved, limit.capacity - least * times);
  charge.impossible = charge.ask.cost + charge.ask.reserved > limit.capacity;
}

void ShareOverflow(Charge& charge) {
  const Limit& own = charge.limit->limit;
  charge.limit = charge.limit->overflow.get();
  // The same part of the smaller burst, rounded up.
  charge.ask.reserved =
      (charge.ask.reserved * charge.limit->limit.burst() + (own.burst() - 1)) /
      own.burst();
  charge.overflow = true;
  charge.too_large =
      charge.ask.cost + charge.ask.reserved > charge.limit->capacity;
}

Charge PenaltyCharge(const Charge& charge) {
  Charge penalty = charge;
  penalty.limit = &charge.rule->penalty;
  penalty.fingerprint.lo += kPenaltySlot - charge.slot;
  penalty.slot = kPenaltySlot;
  const Limit& after = penalty.limit->limit;
  penalty.ask = Ask();
  penalty.ask.cost = std::min<uint64_t>(
      charge.sharers, MostSharers(after, after.burst(), /*cost=*/1));
  penalty.impossible = false;
  penalty.overflow = false;
  return penalty;
}

}  // namespace tollgate
