#include "server/rules/rule_fields.h"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "server/limiter/rule.h"
#include "server/rules/limit_fields.h"
#include "server/rules/policy_fields.h"
#include "server/rules/rule_draft.h"
#include "server/rules/rule_file.h"
#include "server/rules/selection_fields.h"

namespace tollgate {
namespace {

constexpr absl::string_view kWantDomain =
    "the domain of the rules, such as shop";
constexpr absl::string_view kWantName =
    "a name that is unique in the domain, such as per-user";
constexpr absl::string_view kWantRules = "a list of rules";
constexpr absl::string_view kWantRule =
    "a rule, a map with name, key, limit and so on";
constexpr absl::string_view kWantFile = "a map with domain and rules";

void ReadName(const FieldValue& value, RuleDraft& draft) {
  const auto text = value.Text(kWantName);
  if (!text.has_value()) return;
  Rule probe = SoundRule();
  probe.name = std::string(*text);
  if (value.Check(ValidateRule(probe), "name")) draft.rule.name = probe.name;
}

// Every field that a rule may have. A new one is added here, with its reader.
constexpr std::array<FieldReader<RuleDraft>, 17> kRuleFields = {{
    {"name", ReadName},
    {"match", ReadMatch},
    {"key", ReadKey},
    {"limit", nullptr},
    {"burst", ReadBurst},
    {"tier", nullptr},
    {"algorithm", ReadAlgorithm},
    {"max_delay", nullptr},
    {"slot_ttl", nullptr},
    {"cost", ReadCost},
    {"mode", ReadMode},
    {"penalty", ReadPenalty},
    {"reserve", ReadReserve},
    {"overflow_share", ReadOverflowShare},
    {"on_outage", ReadOnOutage},
    {"unlimited", ReadUnlimited},
    {"skips", ReadSkips},
}};

// An allow-list takes nothing, so whatever speaks of taking is a mistake.
void RefuseBesideUnlimited(const RuleDraft& draft) {
  for (const absl::string_view name :
       {"key", "limit", "burst", "tier", "algorithm", "max_delay", "slot_ttl",
        "cost", "penalty", "reserve", "overflow_share", "on_outage"}) {
    const FieldValue* value = draft.Find(name);
    if (value == nullptr) continue;
    value->Fail(
        "got it beside unlimited: true, want it left out: such a rule limits "
        "nothing");
  }
  const FieldValue* mode = draft.Find("mode");
  if (mode != nullptr && mode->is_map()) {
    mode->Fail(
        "got a percentage beside unlimited: true, want enforce, shadow or "
        "off: such a rule has no keys to divide");
  }
}

// What takes more than one field to know.
void Finish(const FieldValue& map, RuleDraft& draft) {
  if (draft.Find("name") == nullptr) map.FailMissing("name", kWantName);
  if (draft.rule.unlimited) return RefuseBesideUnlimited(draft);
  if (!draft.unlimited_known) return;  // what else is wanted depends on it
  const FieldValue* skips = draft.Find("skips");
  if (skips != nullptr) {
    skips->Fail("got it without unlimited: true, want it left out");
  }
  ReadLimits(map, draft);
}

// Where each name in `skips` stands.
std::vector<NamePlace> PlacesOfSkips(const RuleDraft& draft) {
  std::vector<NamePlace> places;
  const FieldValue* skips = draft.Find("skips");
  if (skips == nullptr || !skips->is_list()) return places;
  for (const FieldValue& item : skips->Items("")) {
    if (item.node().kind == YamlNode::Kind::kText) {
      places.push_back({item.node().text, item.at(), item.path()});
    }
  }
  return places;
}

ReadRule ReadOneRule(const FieldValue& value) {
  RuleDraft draft;
  draft.rule.algorithm = SoundRule().algorithm;
  const size_t errors_before = value.error_count();
  draft.fields = ReadFields<RuleDraft>(value, kWantRule, kRuleFields, draft);
  if (value.is_map()) Finish(value, draft);
  if (value.error_count() == errors_before) {
    Rule probe = draft.rule;
    probe.domain = SoundRule().domain;
    value.CheckFields(ValidateRule(probe));
  }
  ReadRule read;
  if (const FieldValue* name = draft.Find("name"); name != nullptr) {
    read.name = {draft.rule.name, name->at(), name->path()};
  }
  read.skips = PlacesOfSkips(draft);
  read.rule = std::move(draft.rule);
  return read;
}

void ReadDomain(const FieldValue& value, RuleFileFields& file) {
  file.has_domain = true;
  const auto text = value.Text(kWantDomain);
  if (!text.has_value()) return;
  Rule probe = SoundRule();
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
