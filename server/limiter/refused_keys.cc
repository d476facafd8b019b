#include "server/limiter/refused_keys.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace tollgate {
namespace {

// Such as "#0123456789abcdef". A secret of the process is in it, so nobody can
// try which key it might be.
std::string HashText(const HashKey& secret, const Fingerprint& id) {
  std::array<char, sizeof(id.hi) + sizeof(id.lo)> bytes{};
  std::memcpy(bytes.data(), &id.hi, sizeof(id.hi));
  std::memcpy(bytes.data() + sizeof(id.hi), &id.lo, sizeof(id.lo));
  const Fingerprint hash = KeyedHash(secret, {bytes.data(), bytes.size()});
  return absl::StrCat("#", absl::Hex(hash.hi, absl::kZeroPad16));
}

bool Asks(const RefusedKeysQuery& query, const RuleId& rule) {
  return (query.domain.empty() || query.domain == rule.domain->name) &&
         (query.rule.empty() || query.rule == rule.name);
}

// The most refusals first; by name where there are as many.
bool ComesBefore(const RefusedRule& a, const RefusedRule& b) {
  if (a.total != b.total) return a.total > b.total;
  if (a.rule->domain != b.rule->domain) {
    return a.rule->domain->name < b.rule->domain->name;
  }
  return a.rule->name < b.rule->name;
}

}  // namespace

RefusedKeys::RefusedKeys(RefusedKeysOptions options)
    : options_(options),
      half_life_ns_(
          std::max<int64_t>(absl::ToInt64Nanoseconds(options.half_life), 1)),
      show_key_(RandomHashKey()) {}

void RefusedKeys::Add(const RuleId& rule, const Fingerprint& id, int64_t now_ns,
                      bool shadow,
                      absl::FunctionRef<void(std::string&)> write_text) {
  Stripe& stripe = StripeOf(rule);
  std::unique_ptr<SpaceSaving> retired;
  bool counted = false;
  if (stripe.mutex.TryLock()) {
    SpaceSaving* const sketch = FindOrMake(stripe, rule, now_ns, retired);
    counted = sketch != nullptr;
    if (counted && options_.mode == RefusedKeysOptions::Mode::kOn) {
      sketch->Add(id, now_ns, shadow, write_text);
    } else if (counted) {
      sketch->Add(id, now_ns, shadow, [](std::string&) {});
    }
    stripe.mutex.Unlock();
  }
  if (!counted) stripe.missed.fetch_add(1, std::memory_order_relaxed);
}

SpaceSaving* RefusedKeys::FindOrMake(Stripe& stripe, const RuleId& rule,
                                     int64_t now_ns,
                                     std::unique_ptr<SpaceSaving>& retired) {
  const auto found = stripe.sketches.find(&rule);
  if (found != stripe.sketches.end()) return found->second.get();
  if (stripe.sketches.size() >= kMaxRulesPerStripe) {
    const auto quietest =
        std::min_element(stripe.sketches.begin(), stripe.sketches.end(),
                         [](const auto& a, const auto& b) {
                           return a.second->last_ns() < b.second->last_ns();
                         });
    if (now_ns - quietest->second->last_ns() < half_life_ns_) return nullptr;
    retired = std::move(quietest->second);
    stripe.sketches.erase(quietest);
  }
  auto sketch = std::make_unique<SpaceSaving>(options_.keys_per_rule,
                                              half_life_ns_, now_ns);
  return stripe.sketches.emplace(&rule, std::move(sketch)).first->second.get();
}

RefusedKeysReport RefusedKeys::Report(const RefusedKeysQuery& query,
                                      int64_t now_ns) {
  RefusedKeysReport report;
  report.options = options_;
  report.at_ns = now_ns;
  for (Stripe& stripe : stripes_) {
    report.missed += stripe.missed.load(std::memory_order_relaxed);
    MutexLock lock(stripe.mutex);
    for (const auto& [rule, sketch] : stripe.sketches) {
      if (!Asks(query, *rule)) continue;
      sketch->Fade(now_ns);
      if (sketch->total() == 0) continue;
      report.rules.push_back({rule, sketch->total(), sketch->since_ns(), {}});
    }
  }
  std::sort(report.rules.begin(), report.rules.end(), ComesBefore);
  const size_t found = report.rules.size();
  size_t room = kMaxReportKeys;
  size_t read = 0;
  while (read < std::min(found, query.max_rules) && room > 0) {
    RefusedRule& rule = report.rules[read++];
    ReadKeys(std::min(query.max_keys, room), now_ns, rule);
    room -= rule.keys.size();
  }
  report.rules.resize(read);
  report.rules_left_out = found - read;
  return report;
}

void RefusedKeys::ReadKeys(size_t max_keys, int64_t now_ns, RefusedRule& out) {
  Stripe& stripe = StripeOf(*out.rule);
  {
    MutexLock lock(stripe.mutex);
    const auto found = stripe.sketches.find(out.rule);
    if (found == stripe.sketches.end()) return;  // made room meanwhile
    found->second->Fade(now_ns);
    // Of the same moment as the keys, so that no share is above the whole.
    out.total = found->second->total();
    out.keys = found->second->Top(max_keys);
  }
  if (options_.mode != RefusedKeysOptions::Mode::kHashed) return;
  for (HeavyKey& key : out.keys) key.text = HashText(show_key_, key.id);
}

void RefusedKeys::Forget(int64_t now_ns) {
  const int64_t age = now_ns / half_life_ns_;
  if (age <= forgotten_age_.load(std::memory_order_relaxed)) return;
  forgotten_age_.store(age, std::memory_order_relaxed);
  for (Stripe& stripe : stripes_) {
    MutexLock lock(stripe.mutex);
    for (auto it = stripe.sketches.begin(); it != stripe.sketches.end();) {
      const auto here = it++;
      here->second->Fade(now_ns);
      if (here->second->total() == 0) stripe.sketches.erase(here);
    }
  }
}

}  // namespace tollgate
