#include "server/rules/envoy_file.h"

#include <algorithm>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "server/base/keyed_hash.h"
#include "server/limiter/request.h"
#include "server/rules/envoy_check.h"
#include "server/rules/envoy_limits.h"
#include "server/rules/quote.h"
#include "server/rules/yaml_json.h"

namespace tollgate {
namespace {

constexpr absl::string_view kListType = "[]config.YamlDescriptor";

std::string ReadMetadata(const EnvoyFields& fields) {
  const YamlNode* metadata = fields.Find("metadata");
  if (metadata == nullptr) return "";
  if (metadata->kind != YamlNode::Kind::kMap) {
    fields.FailType(*metadata, "map[string]interface {}");
    return "";
  }
  absl::StatusOr<std::string> json = ToJson(*metadata);
  if (json.ok()) return *std::move(json);
  fields.Fail("metadata", absl::StrCat("error parsing metadata: ",
                                       json.status().message()));
  return "";
}

// OK if a request could have it.
bool CheckLength(const EnvoyFields& fields, absl::string_view name,
                 const std::string& text, size_t max) {
  if (text.size() <= max) return true;
  fields.Fail(
      name, absl::StrCat("got ", text.size(), " bytes, want at most the ", max,
                         " that a request can have"));
  return false;
}

size_t BytesOf(const Rule& rule) {
  constexpr size_t kFixed = 64;
  size_t bytes = sizeof(Rule) + rule.node->metadata.size() + rule.name.size();
  for (const NodeStep& step : rule.node->path) {
    bytes += kFixed + step.key.size() + step.value.size();
  }
  for (const NodeLimit& limit : rule.node->limits) {
    bytes += kFixed + limit.name.size();
    for (const std::string& name : limit.replaces) {
      bytes += kFixed + name.size();
    }
  }
  return bytes;
}

}  // namespace

bool IsEnvoyFormat(const YamlNode& root) {
  if (root.kind != YamlNode::Kind::kMap) return false;
  bool has_descriptors = false;
  for (size_t i = 0; i + 1 < root.items.size(); i += 2) {
    if (root.items[i]->kind != YamlNode::Kind::kText) continue;
    if (root.items[i]->text == "rules") return false;
    if (root.items[i]->text == "descriptors") has_descriptors = true;
  }
  return has_descriptors;
}

bool LooksLikeEnvoyFormat(absl::string_view text) {
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (absl::StartsWith(line, "descriptors:")) return true;
    if (absl::StartsWith(line, "rules:")) return false;
  }
  return false;
}

const std::string* EnvoyLoader::FileOf(absl::string_view domain) const {
  const auto found = domains_.find(domain);
  return found == domains_.end() ? nullptr : &found->second.file;
}

void EnvoyLoader::Add(const YamlNode& root, size_t max_rules, ErrorList& errors,
                      std::vector<Rule>& rules) {
  if (!CheckEnvoyYaml(root, errors)) return;
  const EnvoyFields fields(root, "", errors);
  domain_name_ = fields.Text("domain");
  const auto descriptors = fields.Maps("descriptors", kListType);
  if (domain_name_.empty()) {
    return fields.Fail("domain", "config file cannot have empty domain");
  }
  if (!CheckLength(fields, "domain", domain_name_, kMaxDomainBytes)) return;
  const auto [known, is_new] = domains_.try_emplace(domain_name_);
  domain_ = &known->second;
  if (!is_new && !options_.merge_domains) {
    return fields.Fail(
        "domain", absl::StrCat("duplicate domain '", Clip(domain_name_),
                               "' in config file, first in ", domain_->file,
                               " (--merge-domains would merge them)"));
  }
  rules_ = &rules;
  max_rules_ = rules.size() + max_rules;
  full_ = false;
  Place place{domain_name_, {}};
  if (is_new) {
    domain_->file = errors.file();
    AddRule(fields, /*is_leaf=*/true, place);
  }
  ReadDescriptors(descriptors, domain_->top_level, place);
}

void EnvoyLoader::ReadDescriptors(const std::vector<EnvoyFields>& descriptors,
                                  absl::flat_hash_set<std::string>& siblings,
                                  Place& place) {
  for (const EnvoyFields& fields : descriptors) {
    if (full_) return;
    const size_t size = place.dotted.size();
    ReadDescriptor(fields, siblings, place);
    place.dotted.resize(size);
  }
}

void EnvoyLoader::ReadDescriptor(const EnvoyFields& fields,
                                 absl::flat_hash_set<std::string>& siblings,
                                 Place& place) {
  NodeStep step{fields.Text("key"), fields.Text("value"),
                fields.Flag("share_threshold")};
  if (step.key.empty()) {
    return fields.Fail("key", "descriptor has empty key");
  }
  if (!CheckLength(fields, "key", step.key, kMaxKeyBytes) ||
      !CheckLength(fields, "value", step.value, kMaxValueBytes)) {
    return;
  }
  const std::string composite = step.ToString();
  absl::StrAppend(&place.dotted, ".", composite);
  if (!siblings.insert(composite).second) {
    return fields.Fail("key",
                       absl::StrCat("duplicate descriptor composite key '",
                                    Clip(place.dotted), "'"));
  }
  if (step.share && !step.is_wildcard()) {
    fields.Fail("share_threshold",
                absl::StrCat("share_threshold can only be used with wildcard "
                             "values (containing '*'), but found key '",
                             Clip(composite), "'"));
  }
  place.path.push_back(std::move(step));
  const auto children = fields.Maps("descriptors", kListType);
  AddRule(fields, children.empty(), place);
  absl::flat_hash_set<std::string> below;
  ReadDescriptors(children, below, place);
  place.path.pop_back();
}

void EnvoyLoader::AddRule(const EnvoyFields& fields, bool is_leaf,
                          const Place& place) {
  const bool is_root = place.path.empty();
  Rule rule;
  rule.domain = domain_name_;
  rule.algorithm = options_.envoy_algorithm;
  rule.node.emplace().path = place.path;
  if (!is_root) {
    ReadRateLimit(fields, rule);
    rule.node->quota_mode = fields.Flag("quota_mode");
    if (fields.Flag("shadow_mode")) rule.mode = Mode::kShadow;
    // Read so that what is no truth value is found: neither changes a label.
    (void)fields.Flag("detailed_metric");
    (void)fields.Flag("value_to_metric");
    rule.node->metadata = ReadMetadata(fields);
  }
  // A node with others below it and no limit is there through them.
  if (!is_leaf && rule.node->limits.empty()) return;
  rule.name = is_root ? std::string(kOverrideRule) : NameOf(place.path);
  bytes_ += BytesOf(rule);
  if (rules_->size() >= max_rules_ || bytes_ > kMaxEnvoyBytes) {
    full_ = true;
    return fields.Fail(
        "", absl::StrCat("got more than ", kMaxRulesLoaded, " rules or ",
                         kMaxEnvoyBytes >> 20,
                         " MiB of keys, values and metadata with aliases "
                         "counted in full, want at most those"));
  }
  domain_->names.insert(rule.name);
  rules_->push_back(std::move(rule));
}

// The path from the domain, as metrics and answers show it: one line, of a
// bounded length, unique in the domain. Two paths can read the same (a dot in a
// key), and one can be too long; what makes up for it does not change when the
// file is loaded again.
std::string EnvoyLoader::NameOf(const std::vector<NodeStep>& path) {
  constexpr size_t kShown = 100;
  std::string name =
      absl::StrJoin(path, ".", [](std::string* out, const NodeStep& step) {
        absl::StrAppend(out, step.ToString());
      });
  const bool one_line =
      std::none_of(name.begin(), name.end(),
                   [](unsigned char c) { return c < 0x20 || c == 0x7F; });
  if (name.size() <= kMaxNameBytes && one_line &&
      !domain_->names.contains(name)) {
    return name;
  }
  std::string exact;
  for (const NodeStep& step : path) {
    absl::StrAppend(&exact, step.key.size(), ":", step.key, ";",
                    step.value.size(), ":", step.value, ";");
  }
  size_t end = std::min(name.size(), kShown);
  while (end > 0 && end < name.size() &&
         (static_cast<unsigned char>(name[end]) & 0xC0) == 0x80) {
    --end;
  }
  name.resize(end);
  for (char& c : name) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = '?';
  }
  return absl::StrFormat("%s~%016x", name, KeyedHash(HashKey{}, exact).hi);
}

}  // namespace tollgate
