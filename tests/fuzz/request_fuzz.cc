// Requests and rules of any kind: a request is refused by ValidateRequest or
// decided; the rules that a decision speaks of are those that a scan of all
// rules finds; and nothing that is done to a limiter ends the process.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/base/address.h"
#include "server/base/clock.h"
#include "server/limiter/limiter.h"
#include "server/limiter/rule_set.h"
#include "tests/fuzz/byte_reader.h"
#include "tests/fuzz/check.h"

namespace tollgate {
namespace {

constexpr int64_t kNow = 1'700'000'000'000'000'001;
// Few, so that rules and requests often meet.
constexpr absl::string_view kKeys[] = {"a", "b", "c", "ip"};
constexpr absl::string_view kValues[] = {
    "", "x", "y", "xy", "xyx", "192.0.2.1", "::ffff:192.0.2.1", "2001:db8::1"};
constexpr absl::string_view kPatterns[] = {
    "", "x", "y", "*", "x*", "*x", "x*x", "*y*", "xy*x", "**", "192.*", "xyx*"};
constexpr absl::string_view kNames[] = {"r0", "r1", "r2", "r3", "r4",
                                        "r5", "r6", "r7", ""};
constexpr absl::string_view kDomains[] = {"d", "e", ""};

// ---- Rules ----

Limit MakeLimit(ByteReader& bytes, const Algorithm& algorithm) {
  const uint64_t tokens =
      bytes.OneIn(8) ? bytes.Word() >> bytes.Below(64) : bytes.Below(8);
  const absl::Duration period = bytes.OneIn(8)
                                    ? absl::Nanoseconds(static_cast<int64_t>(
                                          bytes.Word() >> bytes.Below(64)))
                                    : absl::Seconds(bytes.Below(4));
  const uint64_t burst = bytes.OneIn(4) ? bytes.Below(16) : tokens;
  absl::StatusOr<Limit> limit = Limit::Create(tokens, period, burst);
  if (!limit.ok()) return Limit();
  if (algorithm.name() == "leaky_bucket" || bytes.OneIn(32)) {
    limit = limit->WithHold(absl::Milliseconds(bytes.Below(256) * 20));
  }
  return limit.ok() ? *limit : Limit();
}

std::vector<Limit> MakeLimits(ByteReader& bytes, const Algorithm& algorithm) {
  std::vector<Limit> limits;
  for (size_t n = 1 + bytes.Below(2); n > 0; --n) {
    limits.push_back(MakeLimit(bytes, algorithm));
  }
  return limits;
}

Condition MakeCondition(ByteReader& bytes) {
  Condition condition{std::string(bytes.One(kKeys)), {}};
  for (size_t n = bytes.OneIn(16) ? 0 : 1 + bytes.Below(3); n > 0; --n) {
    const absl::string_view text = bytes.One(kPatterns);
    condition.any_of.push_back(bytes.OneIn(4) ? Pattern::Exact(text)
                                              : Pattern::Parse(text));
  }
  return condition;
}

KeyPart MakeKeyPart(ByteReader& bytes) {
  KeyPart part;
  for (size_t n = 1 + bytes.Below(3); n > 0; --n) {
    KeySource source{std::string(bytes.One(kKeys)), std::nullopt};
    if (bytes.OneIn(3)) {
      source.prefix = {static_cast<int>(bytes.Below(35)) - 1,
                       static_cast<int>(bytes.Below(131)) - 1};
    }
    part.alternatives.push_back(std::move(source));
  }
  return part;
}

void AddPolicies(ByteReader& bytes, Rule& rule) {
  if (bytes.OneIn(4)) {
    Tier& tier = rule.tier.emplace();
    tier.entry = std::string(bytes.One(kKeys));
    for (size_t n = 1 + bytes.Below(3); n > 0; --n) {
      tier.limits.emplace_back(bytes.One(kValues),
                               MakeLimits(bytes, *rule.algorithm));
    }
    if (bytes.OneIn(2)) tier.fallback = tier.limits[0].first;
    if (!bytes.OneIn(16)) rule.limits.clear();
  }
  if (bytes.OneIn(4)) {
    const absl::StatusOr<Limit> after =
        MakeLimit(bytes, *FindAlgorithm("token_bucket"))
            .WithHold(absl::Seconds(bytes.Below(4)));
    if (after.ok()) rule.penalty = PenaltyRule{*after};
  }
  if (bytes.OneIn(4)) {
    Reserve& reserve = rule.reserve.emplace();
    reserve.entry = std::string(bytes.One(kKeys));
    for (size_t n = 1 + bytes.Below(2); n > 0; --n) {
      reserve.shares.emplace_back(bytes.One(kValues),
                                  static_cast<uint32_t>(bytes.Below(101)));
    }
  }
  if (bytes.OneIn(4)) rule.mode = static_cast<Mode>(bytes.Below(3));
  if (bytes.OneIn(4)) {
    rule.enforce_percent = static_cast<uint32_t>(bytes.Below(102));
  }
}

Rule MakeRule(ByteReader& bytes) {
  Rule rule;
  rule.domain = std::string(bytes.One(kDomains));
  rule.name = std::string(bytes.One(kNames));
  for (size_t n = bytes.Below(3); n > 0; --n) {
    rule.match.push_back(MakeCondition(bytes));
  }
  rule.unlimited = bytes.OneIn(5);
  if (rule.unlimited) {
    if (bytes.OneIn(4)) rule.mode = static_cast<Mode>(bytes.Below(3));
    if (bytes.OneIn(2)) rule.skips.emplace_back(bytes.One(kNames));
    return rule;
  }
  for (size_t n = bytes.Below(3); n > 0; --n) {
    rule.key.push_back(MakeKeyPart(bytes));
  }
  const std::vector<absl::string_view> names = AlgorithmNames();
  rule.algorithm = FindAlgorithm(names[bytes.Below(names.size())]);
  rule.limits = MakeLimits(bytes, *rule.algorithm);
  if (bytes.OneIn(4)) rule.cost = bytes.Below(8);
  AddPolicies(bytes, rule);
  return rule;
}

// Those that ValidateRule takes: one bad rule refuses all.
std::vector<Rule> MakeRules(ByteReader& bytes) {
  std::vector<Rule> rules;
  std::set<std::pair<std::string, std::string>> seen;
  for (size_t n = bytes.Below(10); n > 0; --n) {
    Rule rule = MakeRule(bytes);
    if (ValidateRule(rule).ok() &&
        seen.emplace(rule.domain, rule.name).second) {
      rules.push_back(std::move(rule));
    }
  }
  for (Rule& rule : rules) {
    std::erase_if(rule.skips, [&](const std::string& name) {
      return !seen.contains({rule.domain, name});
    });
  }
  return rules;
}

// ---- Requests ----

struct OwnedRequest {
  std::vector<std::vector<std::pair<std::string, std::string>>> texts;
  std::vector<std::vector<Entry>> entries;
  std::vector<Descriptor> descriptors;
  std::string domain;
  Request request;
};

std::string MakeText(ByteReader& bytes, absl::string_view usual) {
  if (bytes.OneIn(64)) return std::string(bytes.Below(256) * 20, 'x');
  return bytes.OneIn(32) ? bytes.Raw(8) : std::string(usual);
}

std::unique_ptr<OwnedRequest> MakeRequest(ByteReader& bytes) {
  auto owned = std::make_unique<OwnedRequest>();
  owned->domain = MakeText(bytes, bytes.OneIn(4) ? "e" : "d");
  const size_t descriptors =
      bytes.OneIn(64) ? bytes.Below(70) : 1 + bytes.Below(2);
  for (size_t d = 0; d < descriptors; ++d) {
    auto& texts = owned->texts.emplace_back();
    for (size_t n = bytes.OneIn(64) ? bytes.Below(40) : 1 + bytes.Below(4);
         n > 0; --n) {
      std::string key = MakeText(bytes, bytes.One(kKeys));
      texts.emplace_back(std::move(key), MakeText(bytes, bytes.One(kValues)));
    }
  }
  for (const auto& texts : owned->texts) {
    auto& entries = owned->entries.emplace_back();
    for (const auto& [key, value] : texts) entries.push_back({key, value});
  }
  for (const auto& entries : owned->entries) {
    owned->descriptors.emplace_back(entries);
  }
  owned->request.domain = owned->domain;
  owned->request.descriptors = owned->descriptors;
  owned->request.cost =
      bytes.OneIn(16) ? bytes.Word() >> bytes.Below(64) : bytes.Below(4);
  return owned;
}

// ---- The scan ----

const absl::string_view* Find(Descriptor descriptor, absl::string_view key) {
  for (const Entry& entry : descriptor) {
    if (entry.key == key) return &entry.value;
  }
  return nullptr;
}

// By definition: each `*` is any number of characters.
bool Fits(absl::string_view pattern, absl::string_view value) {
  if (pattern.empty()) return value.empty();
  if (pattern[0] == '*') {
    if (pattern.size() == 1) return true;
    return Fits(pattern.substr(1), value) ||
           (!value.empty() && Fits(pattern, value.substr(1)));
  }
  return !value.empty() && pattern[0] == value[0] &&
         Fits(pattern.substr(1), value.substr(1));
}

bool Has(const KeySource& source, Descriptor descriptor) {
  const absl::string_view* value = Find(descriptor, source.entry);
  if (value == nullptr || !source.prefix.has_value()) return value != nullptr;
  Network network;
  return ParseNetwork(*value, 32, 128, network);
}

bool Applies(const Rule& rule, Descriptor descriptor) {
  for (const Condition& condition : rule.match) {
    const absl::string_view* value = Find(descriptor, condition.key);
    if (value == nullptr ||
        std::none_of(condition.any_of.begin(), condition.any_of.end(),
                     [&](const Pattern& pattern) {
                       return pattern.is_exact()
                                  ? pattern.prefix() == *value
                                  : Fits(pattern.ToString(), *value);
                     })) {
      return false;
    }
  }
  for (const KeyPart& part : rule.key) {
    if (std::none_of(part.alternatives.begin(), part.alternatives.end(),
                     [&](const KeySource& s) { return Has(s, descriptor); })) {
      return false;
    }
  }
  if (!rule.tier.has_value() || !rule.tier->fallback.empty()) return true;
  const absl::string_view* value = Find(descriptor, rule.tier->entry);
  return value != nullptr &&
         std::any_of(rule.tier->limits.begin(), rule.tier->limits.end(),
                     [&](const auto& tier) { return tier.first == *value; });
}

bool IsSkipped(const Rule& rule, const std::vector<const Rule*>& unlimited) {
  return std::any_of(unlimited.begin(), unlimited.end(), [&](const Rule* list) {
    return list->mode == Mode::kEnforce &&
           (list->skips.empty() ||
            std::find(list->skips.begin(), list->skips.end(), rule.name) !=
                list->skips.end());
  });
}

std::set<std::string> Scan(const std::vector<Rule>& rules,
                           const Request& request) {
  std::vector<const Rule*> applying;
  std::vector<const Rule*> unlimited;
  for (const Rule& rule : rules) {
    if (rule.mode == Mode::kOff || rule.domain != request.domain ||
        std::none_of(request.descriptors.begin(), request.descriptors.end(),
                     [&](Descriptor d) { return Applies(rule, d); })) {
      continue;
    }
    (rule.unlimited ? unlimited : applying).push_back(&rule);
  }
  std::set<std::string> names;
  for (const Rule* rule : unlimited) names.insert(rule->name);
  for (const Rule* rule : applying) {
    if (!IsSkipped(*rule, unlimited)) names.insert(rule->name);
  }
  return names;
}

// ---- The limiter ----

class Session {
 public:
  explicit Session(ByteReader& bytes) : bytes_(bytes) {}

  void Run() {
    Reload();
    for (int step = 0; step < 64 && !bytes_.done(); ++step) Step();
  }

 private:
  static LimiterOptions Options() {
    LimiterOptions options;
    options.stripes = 1;
    options.hash_key = HashKey{};
    return options;
  }

  void Reload() {
    std::vector<Rule> rules = MakeRules(bytes_);
    absl::StatusOr<RuleSet> set = RuleSet::Create(rules);
    Check(set.ok(), "good rules with good skips are a rule set");
    if (limiter_.SetRules(*std::move(set)).ok()) rules_ = std::move(rules);
  }

  void Step() {
    switch (bytes_.Below(12)) {
      case 0:
        return Reload();
      case 1:
        clock_.Advance(static_cast<int64_t>(bytes_.Word() >> 24));
        return;
      case 2:
        clock_.Advance(-static_cast<int64_t>(bytes_.Below(256)) * 10'000'000);
        return;
      case 3:
        limiter_.Sweep(bytes_.Below(256));
        return;
      default:
        return Ask();
    }
  }

  void Ask() {
    const std::unique_ptr<OwnedRequest> owned = MakeRequest(bytes_);
    const Request& request = owned->request;
    if (!ValidateRequest(request).ok()) return;
    const size_t buckets = limiter_.bucket_count();
    const Decision decision = limiter_.Decide(request);
    CheckDecision(decision, request);
    if (request.cost == 0) {
      Check(limiter_.bucket_count() == buckets, "a peek creates nothing");
    }
    if (bytes_.OneIn(8)) limiter_.Refund(request, decision.decided_at_ns);
    if (bytes_.OneIn(8)) limiter_.Reset(request, bytes_.One(kNames));
    if (bytes_.OneIn(2)) {
      for (const HeldSlots& slots : decision.slots) limiter_.Release(slots);
    }
  }

  void CheckDecision(const Decision& decision, const Request& request) const {
    std::set<std::string> names;
    bool refused = false;
    bool impossible = false;
    for (const RuleStatus& status : decision.statuses) {
      names.insert(status.rule->name);
      Check(status.retry_after_ns >= 0 && status.reset_after_ns >= 0 &&
                status.delay_ns >= 0,
            "no time is negative");
      if (status.shadow || status.unlimited) continue;
      refused = refused || status.outcome == Outcome::kRefused;
      impossible = impossible || status.outcome == Outcome::kImpossible;
    }
    Check(names == Scan(rules_, request), "the rules are those of the scan");
    const Outcome want = impossible ? Outcome::kImpossible
                         : refused  ? Outcome::kRefused
                                    : Outcome::kAllowed;
    Check(decision.outcome == want, "the outcome is that of the rules");
    Check((decision.retry_after_ns > 0) == (want == Outcome::kRefused),
          "who is refused is told how long to wait");
  }

  ByteReader& bytes_;
  FakeClock clock_{kNow};
  Limiter limiter_{clock_, Options()};
  std::vector<Rule> rules_;
};

}  // namespace
}  // namespace tollgate

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  tollgate::ByteReader bytes(absl::MakeConstSpan(data, size));
  tollgate::Session(bytes).Run();
  return 0;
}
