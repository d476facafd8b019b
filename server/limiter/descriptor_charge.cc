#include "server/limiter/descriptor_charge.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <tuple>
#include <utility>

#include "absl/numeric/int128.h"

namespace tollgate {
namespace {

const DescriptorTerms& TermsOf(const Request& request, size_t descriptor) {
  static const DescriptorTerms none;
  return request.terms.empty() ? none : request.terms[descriptor];
}

BucketAction ActionOf(const DescriptorTerms& terms) {
  if (terms.hits.has_value() && *terms.hits == 0) return BucketAction::kProbe;
  return terms.refund ? BucketAction::kRefund : BucketAction::kTake;
}

uint64_t CostOf(const Request& request, const DescriptorTerms& terms) {
  return std::max<uint64_t>(terms.hits.value_or(request.cost), 1);
}

void AppendNumber(uint64_t number, DescriptorIndex::Scratch& out) {
  char bytes[sizeof(number)];
  std::memcpy(bytes, &number, sizeof(number));
  out.insert(out.end(), bytes, bytes + sizeof(bytes));
}

// Selects for one request, descriptor by descriptor.
class Selector {
 public:
  Selector(const Request& request, const DomainRules& domain,
           OverrideLimits& overrides)
      : request_(request), domain_(domain), overrides_(overrides) {}

  void AddOverride(size_t d) {
    const LimitOverride& limit = *TermsOf(request_, d).limit;
    DescriptorCharge& added = Add(domain_.overrides, d);
    if (limit.requests_per_unit == 0) {
      added.refuses_all = true;
      added.charge.limit = RefusesAll(limit.unit);
      return;
    }
    added.charge.limit = overrides_.Find(domain_.overrides, limit);
    if (added.charge.limit == nullptr) {
      selection_.too_many_overrides = true;
      return;
    }
    key_.clear();
    AppendNumber(limit.requests_per_unit, key_);
    AppendNumber(static_cast<uint64_t>(limit.unit), key_);
    for (const Entry& entry : request_.descriptors[d]) {
      for (const absl::string_view text : {entry.key, entry.value}) {
        AppendNumber(text.size(), key_);
        key_.insert(key_.end(), text.begin(), text.end());
      }
    }
    added.charge.fingerprint =
        KeyedHash(domain_.overrides.hash_key, {key_.data(), key_.size()});
    ShareBucket(added);
  }

  void AddMatched(size_t d) {
    key_.clear();
    const uint32_t position = domain_.tree->Find(request_.descriptors[d], key_);
    if (position == DescriptorIndex::kNone) return;
    const BoundRule& rule = domain_.rules[position];
    const NodeRule& node = *rule.rule.node;
    if (node.limits.empty()) return;
    const Fingerprint base =
        KeyedHash(rule.hash_key, {key_.data(), key_.size()});
    for (uint32_t slot = 0; slot < node.limits.size(); ++slot) {
      const NodeLimit& written = node.limits[slot];
      DescriptorCharge& added = Add(rule, d);
      added.charge.position = position;
      added.charge.slot = slot;
      added.charge.shadow = rule.rule.mode == Mode::kShadow;
      added.quota = node.quota_mode;
      added.node = &node;
      added.written = &written;
      added.unlimited = written.unlimited;
      added.refuses_all = !written.unlimited && written.requests_per_unit == 0;
      added.charge.limit =
          added.refuses_all ? RefusesAll(written.unit) : &rule.tiers[0][slot];
      added.charge.fingerprint = Fingerprint{base.hi, base.lo + slot};
      ShareBucket(added);
      if (!written.replaces.empty()) replaces_ = true;
    }
  }

  // What native rules want for descriptor `d`, but for buckets and allow-lists
  // that are there already.
  void AddNative(size_t d, uint64_t ticket) {
    Request one;
    one.domain = request_.domain;
    one.descriptors = request_.descriptors.subspan(d, 1);
    one.cost = CostOf(request_, TermsOf(request_, d));
    one.sharers = request_.sharers;
    const Selection found = Select(one, domain_, ticket);
    selection_.bad_addresses += found.bad_addresses;
    for (const Charge& charge : found.charges) {
      if (Has(*charge.rule, charge.fingerprint)) continue;
      Add(*charge.rule, d).charge = charge;
      selection_.charges.back().charge.descriptor = static_cast<uint32_t>(d);
    }
    for (const BoundRule* list : found.unlimited) {
      if (Has(*list, Fingerprint())) continue;
      DescriptorCharge& added = Add(*list, d);
      added.unlimited = true;
      added.charge.shadow = list->rule.mode == Mode::kShadow;
      added.charge.position =
          static_cast<uint32_t>(list - domain_.rules.data());
    }
  }

  // Takes out what the allow-lists that apply take out, and puts the rest in
  // the order of the rules.
  void FinishNative() {
    auto& charges = selection_.charges;
    const auto taken_out = [&](const DescriptorCharge& c) {
      return !c.unlimited && c.charge.rule != &domain_.overrides &&
             std::any_of(charges.begin(), charges.end(),
                         [&](const DescriptorCharge& list) {
                           return list.unlimited && TakesOut(*list.charge.rule,
                                                             c.charge.position);
                         });
    };
    absl::InlinedVector<DescriptorCharge, 4> kept;
    for (const DescriptorCharge& c : charges) {
      if (!taken_out(c)) kept.push_back(c);
    }
    std::stable_sort(
        kept.begin(), kept.end(), [&](const auto& a, const auto& b) {
          const auto place = [&](const DescriptorCharge& c) {
            return std::tuple(c.unlimited, c.charge.rule == &domain_.overrides,
                              c.charge.position, c.charge.fingerprint.hi,
                              c.charge.slot);
          };
          return place(a) < place(b);
        });
    charges = std::move(kept);
  }

  DescriptorSelection Finish() {
    if (replaces_) Replace();
    FindImpossible();
    return std::move(selection_);
  }

 private:
  // What stands for a limit of none, so that its unit is known.
  static const BoundLimit* RefusesAll(LimitUnit unit) {
    static const auto* const limits = [] {
      auto* const made = new std::array<BoundLimit, 8>();
      for (int32_t i = 1; i < 8; ++i) {
        const auto period = PeriodOf(static_cast<LimitUnit>(i));
        const absl::StatusOr<Limit> one = Limit::Create(1, *period);
        (*made)[static_cast<size_t>(i)].limit = *one;
      }
      return made;
    }();
    return &(*limits)[static_cast<size_t>(unit)];
  }

  DescriptorCharge& Add(const BoundRule& rule, size_t d) {
    const DescriptorTerms& terms = TermsOf(request_, d);
    DescriptorCharge& added = selection_.charges.emplace_back();
    added.charge.rule = &rule;
    added.charge.descriptor = static_cast<uint32_t>(d);
    added.charge.ask.cost = CostOf(request_, terms);
    added.action = ActionOf(terms);
    return added;
  }

  void ShareBucket(DescriptorCharge& added) const {
    if (request_.sharers > 1 && added.asks_bucket()) {
      Share(request_.sharers, added.charge);
    }
  }

  [[nodiscard]] bool Has(const BoundRule& rule,
                         const Fingerprint& fingerprint) const {
    return std::any_of(selection_.charges.begin(), selection_.charges.end(),
                       [&](const DescriptorCharge& other) {
                         return other.charge.rule == &rule &&
                                other.charge.fingerprint == fingerprint;
                       });
  }

  // Drops the limits that limits of the same request replace, also by limits
  // that are dropped themselves.
  void Replace() {
    for (DescriptorCharge& dropped : selection_.charges) {
      if (dropped.written == nullptr || dropped.unlimited ||
          dropped.written->name.empty()) {
        continue;
      }
      for (const DescriptorCharge& by : selection_.charges) {
        if (by.written == nullptr) continue;
        const auto& names = by.written->replaces;
        if (std::find(names.begin(), names.end(), dropped.written->name) !=
            names.end()) {
          dropped.action = BucketAction::kNone;
        }
      }
    }
  }

  // What a bucket can never hold: alone, or together with what descriptors
  // before it want of the same bucket.
  void FindImpossible() {
    auto& charges = selection_.charges;
    for (size_t i = 0; i < charges.size(); ++i) {
      if (charges[i].action == BucketAction::kRefund) {
        charges[i].charge.impossible = false;
      }
      if (charges[i].action != BucketAction::kTake || charges[i].unlimited) {
        continue;
      }
      if (charges[i].refuses_all) {
        charges[i].charge.impossible = true;
        continue;
      }
      Charge& charge = charges[i].charge;
      if (charge.limit == nullptr) continue;
      absl::uint128 wanted = charge.ask.cost;
      wanted += charge.ask.reserved;
      for (size_t j = 0; j < i; ++j) {
        if (charges[j].charge.rule == charge.rule &&
            charges[j].action == BucketAction::kTake &&
            charges[j].charge.fingerprint == charge.fingerprint) {
          wanted += charges[j].charge.ask.cost;
        }
      }
      charge.impossible = wanted > charge.limit->capacity;
    }
  }

  const Request& request_;
  const DomainRules& domain_;
  OverrideLimits& overrides_;
  DescriptorIndex::Scratch key_;
  bool replaces_ = false;
  DescriptorSelection selection_;
};

// The descriptors in the order in which they are looked at. Native rules charge
// a bucket once a request: for the descriptor that asks the most of it.
absl::InlinedVector<uint32_t, 8> OrderOf(const Request& request,
                                         const DomainRules& domain) {
  absl::InlinedVector<uint32_t, 8> order;
  for (uint32_t d = 0; d < request.descriptors.size(); ++d) order.push_back(d);
  if (domain.tree.has_value()) return order;
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    const auto weight = [&](uint32_t d) {
      const DescriptorTerms& terms = TermsOf(request, d);
      const uint64_t cost = CostOf(request, terms);
      switch (ActionOf(terms)) {
        case BucketAction::kTake:
          return std::pair(0, ~cost);
        case BucketAction::kProbe:
          return std::pair(1, uint64_t{0});
        default:
          return std::pair(2, ~cost);
      }
    };
    return weight(a) < weight(b);
  });
  return order;
}

}  // namespace

DescriptorSelection SelectByDescriptor(const Request& request,
                                       const DomainRules& domain,
                                       OverrideLimits& overrides,
                                       uint64_t ticket) {
  Selector selector(request, domain, overrides);
  for (const uint32_t d : OrderOf(request, domain)) {
    if (TermsOf(request, d).limit.has_value()) {
      selector.AddOverride(d);
    } else if (domain.tree.has_value()) {
      selector.AddMatched(d);
    } else {
      selector.AddNative(d, ticket);
    }
  }
  if (!domain.tree.has_value()) selector.FinishNative();
  return selector.Finish();
}

}  // namespace tollgate
