#include "server/rules/rule_fields.h"

#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "server/limiter/algorithm.h"
#include "server/limiter/limit.h"
#include "server/limiter/request.h"
#include "server/rules/limit_text.h"
#include "server/rules/quote.h"
#include "server/rules/rule_file.h"

namespace tollgate {
namespace {

constexpr uint64_t kMaxBurst = 0xFFFFFFFF;
constexpr absl::string_view kDefaultAlgorithm = "token_bucket";

constexpr absl::string_view kWantDomain =
    "the domain of the rules, such as shop";
constexpr absl::string_view kWantName =
    "a name that is unique in the domain, such as per-user";
constexpr absl::string_view kWantKey = "a list of entry keys, such as [user]";
constexpr absl::string_view kWantKeyPart =
    "an entry key, or alternatives such as api_key | ip";
constexpr absl::string_view kWantMatch =
    "a map of entry keys to values, such as {endpoint: /login}";
constexpr absl::string_view kWantMatchValue =
    "the text to match, or \"\" for an empty value";
constexpr absl::string_view kWantExact =
    "an exact value without *, which is kept for wildcards";
constexpr absl::string_view kWantLimit =
    "tokens/period, such as 10/second, or a list of those";
constexpr absl::string_view kWantLimitItem = "tokens/period, such as 10/second";
constexpr absl::string_view kWantMode = "enforce, shadow or off";
constexpr absl::string_view kWantRules = "a list of rules";
constexpr absl::string_view kWantRule =
    "a rule, a map with name, key, limit and so on";
constexpr absl::string_view kWantFile = "a map with domain and rules";

// A rule while its fields are read, in whatever order the file has them: what
// one field cannot decide alone waits for Finish().
struct Draft {
  Rule rule;
  std::optional<FieldValue> name;
  std::optional<FieldValue> limit;
  std::optional<FieldValue> burst_field;
  std::optional<uint64_t> burst;
};

// A rule with nothing wrong, so that ValidateRule speaks of what a reader has
// put into it and of nothing else.
Rule Sound() {
  Rule rule;
  rule.domain = "domain";
  rule.name = "name";
  rule.limits = {Limit()};
  rule.algorithm = FindAlgorithm(kDefaultAlgorithm);
  return rule;
}

void ReadName(const FieldValue& value, Draft& draft) {
  draft.name = value;
  const auto text = value.Text(kWantName);
  if (!text.has_value()) return;
  Rule probe = Sound();
  probe.name = std::string(*text);
  if (value.Check(ValidateRule(probe), "name")) draft.rule.name = probe.name;
}

void ReadKeyPart(const FieldValue& value, Draft& draft) {
  const auto text = value.Text(kWantKeyPart);
  if (!text.has_value()) return;
  KeyPart part;
  for (const absl::string_view piece : absl::StrSplit(*text, '|')) {
    const absl::string_view entry = absl::StripAsciiWhitespace(piece);
    if (entry.empty()) return value.FailWant(kWantKeyPart);
    part.alternatives.push_back({std::string(entry), std::nullopt});
  }
  Rule probe = Sound();
  probe.key = {part};
  if (!value.Check(ValidateRule(probe), "key[0]")) return;
  draft.rule.key.push_back(std::move(part));
}

void ReadKey(const FieldValue& value, Draft& draft) {
  for (const FieldValue& part : value.Items(kWantKey)) {
    ReadKeyPart(part, draft);
  }
}

void ReadMatch(const FieldValue& value, Draft& draft) {
  for (const NamedValue& named : value.Entries(kWantMatch)) {
    const FieldValue& wanted = named.value;
    const auto text = wanted.Text(kWantMatchValue);
    if (!text.has_value()) continue;
    // As an exact value it would never match what its author means by it, and
    // the rule would silently limit nothing.
    if (absl::StrContains(*text, '*')) {
      wanted.FailWant(kWantExact);
      continue;
    }
    Condition condition{std::string(named.name), {Pattern::Exact(*text)}};
    Rule probe = Sound();
    probe.match = {condition};
    const std::string field = absl::StrCat("match.", named.name);
    if (!wanted.Check(ValidateRule(probe), field)) continue;
    draft.rule.match.push_back(std::move(condition));
  }
}

void ReadOneLimit(const FieldValue& value, absl::string_view want,
                  Draft& draft) {
  const auto text = value.Text(want);
  if (!text.has_value()) return;
  const absl::StatusOr<Limit> limit = ParseLimit(*text);
  if (!limit.ok()) return value.Fail(std::string(limit.status().message()));
  draft.rule.limits.push_back(*limit);
}

void ReadLimit(const FieldValue& value, Draft& draft) {
  draft.limit = value;
  if (!value.is_list()) return ReadOneLimit(value, kWantLimit, draft);
  const std::vector<FieldValue> items = value.Items(kWantLimit);
  if (items.empty()) {
    value.Fail(absl::StrCat("got an empty list, want ", kWantLimit));
  }
  for (const FieldValue& item : items) {
    ReadOneLimit(item, kWantLimitItem, draft);
  }
}

void ReadBurst(const FieldValue& value, Draft& draft) {
  draft.burst_field = value;
  draft.burst = value.Count(kMaxBurst);
}

void ReadAlgorithm(const FieldValue& value, Draft& draft) {
  const std::vector<absl::string_view> names = AlgorithmNames();
  const std::string want = absl::StrCat("one of ", absl::StrJoin(names, ", "));
  const auto text = value.Text(want);
  if (!text.has_value()) return;
  draft.rule.algorithm = FindAlgorithm(*text);
  if (draft.rule.algorithm == nullptr) {
    value.FailWant(absl::StrCat(want, DidYouMean(*text, names)));
  }
}

void ReadCost(const FieldValue& value, Draft& draft) {
  draft.rule.cost = value.Count(kMaxCost).value_or(1);
}

void ReadMode(const FieldValue& value, Draft& draft) {
  const auto text = value.Text(kWantMode);
  if (!text.has_value()) return;
  if (*text == "enforce") {
    draft.rule.mode = Mode::kEnforce;
  } else if (*text == "shadow") {
    draft.rule.mode = Mode::kShadow;
  } else if (*text == "off") {
    draft.rule.mode = Mode::kOff;
  } else {
    value.FailWant(kWantMode);
  }
}

// Every field that a rule may have. A new one is added here, with its reader.
constexpr std::array<FieldReader<Draft>, 8> kRuleFields = {{
    {"name", ReadName},
    {"key", ReadKey},
    {"match", ReadMatch},
    {"limit", ReadLimit},
    {"burst", ReadBurst},
    {"algorithm", ReadAlgorithm},
    {"cost", ReadCost},
    {"mode", ReadMode},
}};

void ApplyBurst(Draft& draft) {
  if (!draft.burst.has_value() || !draft.limit.has_value()) return;
  const FieldValue& field = *draft.burst_field;
  const size_t limits =
      draft.limit->is_list() ? draft.limit->node().items.size() : 1;
  if (limits > 1) {
    return field.Fail(absl::StrCat(
        "got ", field.Got(), " with ", limits,
        " limits, want burst with one "
        "limit: to set a burst, give that limit a rule of its own"));
  }
  if (draft.rule.limits.empty()) return;  // reported by its reader
  Limit& limit = draft.rule.limits[0];
  const absl::StatusOr<Limit> created = Limit::Create(
      limit.tokens(), absl::Nanoseconds(limit.period_ns()), *draft.burst);
  if (field.Check(created.status(), "burst")) limit = *created;
}

// What takes more than one field to know.
void Finish(const FieldValue& map, Draft& draft) {
  if (!draft.name.has_value()) map.FailMissing("name", kWantName);
  if (!draft.limit.has_value()) map.FailMissing("limit", kWantLimit);
  ApplyBurst(draft);
}

ReadRule ReadOneRule(const FieldValue& value) {
  Draft draft;
  draft.rule.algorithm = FindAlgorithm(kDefaultAlgorithm);
  const size_t errors_before = value.error_count();
  ReadFields<Draft>(value, kWantRule, kRuleFields, draft);
  if (value.is_map()) Finish(value, draft);
  if (value.error_count() == errors_before) {
    Rule probe = draft.rule;
    probe.domain = Sound().domain;
    value.CheckFields(ValidateRule(probe));
  }
  ReadRule read{std::move(draft.rule), {}, ""};
  if (draft.name.has_value()) {
    read.name_at = draft.name->at();
    read.name_path = draft.name->path();
  }
  return read;
}

void ReadDomain(const FieldValue& value, RuleFileFields& file) {
  file.has_domain = true;
  const auto text = value.Text(kWantDomain);
  if (!text.has_value()) return;
  Rule probe = Sound();
  probe.domain = std::string(*text);
  if (value.Check(ValidateRule(probe), "domain")) file.domain = probe.domain;
}

void ReadRules(const FieldValue& value, RuleFileFields& file) {
  file.has_rules = true;
  const std::vector<FieldValue> items = value.Items(kWantRules);
  if (items.size() > file.max_rules) {
    return items[file.max_rules].Fail(
        absl::StrCat("got more than ", kMaxRulesLoaded,
                     " rules in all files, want at most ", kMaxRulesLoaded));
  }
  file.rules.reserve(items.size());
  for (const FieldValue& item : items) {
    file.rules.push_back(ReadOneRule(item));
  }
}

// Every field that a rule file may have at its top.
constexpr std::array<FieldReader<RuleFileFields>, 2> kFileFields = {{
    {"domain", ReadDomain},
    {"rules", ReadRules},
}};

}  // namespace

void ReadRuleFile(const FieldValue& root, RuleFileFields& out) {
  ReadFields<RuleFileFields>(root, kWantFile, kFileFields, out);
  if (!root.is_map()) return;
  if (!out.has_domain) root.FailMissing("domain", kWantDomain);
  if (!out.has_rules) root.FailMissing("rules", kWantRules);
  for (ReadRule& read : out.rules) read.rule.domain = out.domain;
}

}  // namespace tollgate
