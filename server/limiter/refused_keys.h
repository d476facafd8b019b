#ifndef TOLLGATE_SERVER_LIMITER_REFUSED_KEYS_H_
#define TOLLGATE_SERVER_LIMITER_REFUSED_KEYS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/base/keyed_hash.h"
#include "server/base/mutex.h"
#include "server/limiter/registry.h"
#include "server/limiter/space_saving.h"

namespace tollgate {

struct RefusedKeysOptions {
  enum class Mode {
    kOff,     // nothing is kept
    kOn,      // keys are kept as requests had them
    kHashed,  // keys are kept as keyed hashes, for who may not keep more
  };
  Mode mode = Mode::kOff;
  // Keys remembered for each rule, 1 to 1000. More of them make the counts of
  // the lesser ones exact; each may take 400 bytes.
  size_t keys_per_rule = 100;
  // How soon refusals lose half their weight, 1 s or more. Longer shows who was
  // refused in the night, shorter who is refused now.
  absl::Duration half_life = absl::Minutes(10);
};

// The refusals of one rule.
struct RefusedRule {
  const RuleId* rule = nullptr;  // lives as long as the limiter
  uint64_t total = 0;            // of all keys, faded
  int64_t since_ns = 0;          // when the counting began
  std::vector<HeavyKey> keys;    // the most refused first
};

struct RefusedKeysQuery {
  absl::string_view domain;  // empty: every one
  absl::string_view rule;    // empty: every one
  size_t max_rules = 0;
  size_t max_keys = 0;  // of each rule
};

struct RefusedKeysReport {
  std::vector<RefusedRule> rules;  // the most refusals first
  size_t rules_left_out = 0;       // that had refusals too
  uint64_t missed = 0;             // refusals that were not counted, ever
  RefusedKeysOptions options;
  int64_t at_ns = 0;
};

// Which keys each rule refuses most: a SpaceSaving sketch for each rule that
// has refused, of at most kMaxRules. A refusal is counted in bounded time and
// waits for nobody: it is missed, and the miss is counted, if another thread is
// counting or reading in the rule's stripe, or if too many other rules have
// refused within a half-life. Otherwise a new rule takes the room of the one
// that has been quiet longest. Thread-safe.
class RefusedKeys {
 public:
  // With keys_per_rule = 100 that is at most 42 MB, if all keys are long.
  static constexpr size_t kMaxRules = 1024;
  // Of one report, over all rules.
  static constexpr size_t kMaxReportKeys = 5000;

  // `options.mode` is not kOff.
  explicit RefusedKeys(RefusedKeysOptions options);
  RefusedKeys(const RefusedKeys&) = delete;
  RefusedKeys& operator=(const RefusedKeys&) = delete;

  // Counts a refusal of the key that `id` identifies under `rule`. `write_text`
  // writes the key for people, and is asked only if it is needed; it must only
  // compute.
  void Add(const RuleId& rule, const Fingerprint& id, int64_t now_ns,
           bool shadow, absl::FunctionRef<void(std::string&)> write_text);

  // Decisions go on meanwhile, but those of a stripe that is being read miss
  // their refusals, for some microseconds a rule.
  [[nodiscard]] RefusedKeysReport Report(const RefusedKeysQuery& query,
                                         int64_t now_ns);

  // Forgets keys whose refusals have faded to none, so that they do not stay
  // in memory while their rule is quiet. Does something once in a half-life.
  void Forget(int64_t now_ns);

 private:
  static constexpr size_t kStripes = 64;
  static constexpr size_t kMaxRulesPerStripe = kMaxRules / kStripes;
  using Sketches =
      absl::flat_hash_map<const RuleId*, std::unique_ptr<SpaceSaving>>;
  struct alignas(64) Stripe {
    Mutex mutex;  // those who decide only try it
    Sketches sketches ABSL_GUARDED_BY(mutex);
    std::atomic<uint64_t> missed{0};  // a statistic
  };

  Stripe& StripeOf(const RuleId& rule) {
    return stripes_[rule.index % kStripes];
  }
  // Null if there is no room. What made room is handed out, to be destroyed
  // without the lock.
  SpaceSaving* FindOrMake(Stripe& stripe, const RuleId& rule, int64_t now_ns,
                          std::unique_ptr<SpaceSaving>& retired)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(stripe.mutex);
  void ReadKeys(size_t max_keys, int64_t now_ns, RefusedRule& out);

  const RefusedKeysOptions options_;
  const int64_t half_life_ns_;
  const HashKey show_key_;  // hides even the fingerprints of buckets
  std::array<Stripe, kStripes> stripes_;
  std::atomic<int64_t> forgotten_age_{0};  // half-lives at the last Forget
};

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_LIMITER_REFUSED_KEYS_H_
