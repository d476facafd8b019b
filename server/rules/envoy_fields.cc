#include "server/rules/envoy_fields.h"

#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/rules/quote.h"
#include "server/rules/yaml_scalar.h"

namespace tollgate {
namespace {

std::string Join(absl::string_view path, absl::string_view name) {
  return path.empty() ? std::string(name) : absl::StrCat(path, ".", name);
}

}  // namespace

const YamlNode* EnvoyFields::Find(absl::string_view name) const {
  const YamlNode* value = map_.Find(name);
  const bool is_there =
      value != nullptr && value->kind != YamlNode::Kind::kNull;
  return is_there ? value : nullptr;
}

std::string EnvoyFields::Text(absl::string_view name) const {
  const YamlNode* value = Find(name);
  if (value == nullptr) return "";
  if (value->kind == YamlNode::Kind::kText) return value->text;
  FailType(*value, "string");
  return "";
}

bool EnvoyFields::Flag(absl::string_view name) const {
  const YamlNode* value = Find(name);
  if (value == nullptr) return false;
  if (value->kind == YamlNode::Kind::kText) {
    const YamlScalar scalar = ResolveScalar(*value);
    if (scalar.type == YamlScalar::Type::kBool) return scalar.boolean;
  }
  FailType(*value, "bool");
  return false;
}

uint32_t EnvoyFields::Number(absl::string_view name, uint32_t absent) const {
  const YamlNode* value = Find(name);
  if (value == nullptr) return absent;
  if (value->kind == YamlNode::Kind::kText) {
    const YamlScalar scalar = ResolveScalar(*value);
    if (scalar.type == YamlScalar::Type::kInt && scalar.integer >= 0 &&
        scalar.integer <= std::numeric_limits<uint32_t>::max()) {
      return static_cast<uint32_t>(scalar.integer);
    }
  }
  FailType(*value, "uint32");
  return absent;
}

std::vector<EnvoyFields> EnvoyFields::Maps(absl::string_view name,
                                           absl::string_view type) const {
  std::vector<EnvoyFields> maps;
  const YamlNode* value = Find(name);
  if (value == nullptr) return maps;
  if (value->kind != YamlNode::Kind::kList) {
    FailType(*value, type);
    return maps;
  }
  for (size_t i = 0; i < value->items.size(); ++i) {
    maps.emplace_back(*value->items[i],
                      absl::StrCat(Join(path_, name), "[", i, "]"), *errors_);
  }
  return maps;
}

std::vector<EnvoyFields> EnvoyFields::MapOrMaps(absl::string_view name,
                                                absl::string_view type) const {
  const YamlNode* value = Find(name);
  if (value == nullptr || value->kind != YamlNode::Kind::kMap) {
    return Maps(name, type);
  }
  std::vector<EnvoyFields> maps;
  maps.emplace_back(*value, Join(path_, name), *errors_);
  return maps;
}

void EnvoyFields::Fail(absl::string_view name, std::string message) const {
  const YamlNode* value = map_.Find(name);
  errors_->Add(value == nullptr ? node_->at : value->at,
               value == nullptr ? path_ : Join(path_, name),
               std::move(message));
}

void EnvoyFields::FailType(const YamlNode& value,
                           absl::string_view type) const {
  constexpr size_t kMaxShown = 10;
  std::string shown;
  if (value.kind == YamlNode::Kind::kText) {
    shown = value.text.size() > kMaxShown
                ? absl::StrCat(" `", Clip(value.text.substr(0, 7)), "...`")
                : absl::StrCat(" `", Clip(value.text), "`");
  }
  errors_->Add(
      value.at, path_,
      absl::StrCat("error loading config file: yaml: unmarshal errors: line ",
                   value.at.line, ": cannot unmarshal ", YamlTag(value), shown,
                   " into ", type));
}

}  // namespace tollgate
