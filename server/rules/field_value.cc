#include "server/rules/field_value.h"

#include <algorithm>
#include <tuple>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "server/rules/quote.h"

namespace tollgate {
namespace {

std::string Described(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::kText:
      return Quote(node.text);
    case YamlNode::Kind::kList:
      return "a list";
    case YamlNode::Kind::kMap:
      return "a map";
    case YamlNode::Kind::kNull:
      break;
  }
  return "nothing";
}

std::string Join(absl::string_view path, absl::string_view name) {
  return path.empty() ? Clip(name) : absl::StrCat(path, ".", Clip(name));
}

// The value that the first part of `path` names, with that part and its dot
// taken off; null if there is none. A name may have dots of its own.
const YamlNode* Enter(const YamlNode& node, absl::string_view& path) {
  if (node.kind == YamlNode::Kind::kList && absl::ConsumePrefix(&path, "[")) {
    size_t index = 0;
    const size_t end = path.find(']');
    if (end == absl::string_view::npos ||
        !absl::SimpleAtoi(path.substr(0, end), &index) ||
        index >= node.items.size()) {
      return nullptr;
    }
    path.remove_prefix(end + 1);
    absl::ConsumePrefix(&path, ".");
    return node.items[index];
  }
  if (node.kind != YamlNode::Kind::kMap) return nullptr;
  for (size_t i = 0; i + 1 < node.items.size(); i += 2) {
    absl::string_view rest = path;
    if (node.items[i]->kind != YamlNode::Kind::kText ||
        !absl::ConsumePrefix(&rest, node.items[i]->text) ||
        (!rest.empty() && rest[0] != '.' && rest[0] != '[')) {
      continue;
    }
    absl::ConsumePrefix(&rest, ".");
    path = rest;
    return node.items[i + 1];
  }
  return nullptr;
}

TextPosition Locate(const YamlNode& root, absl::string_view path) {
  const YamlNode* node = &root;
  while (!path.empty()) {
    const YamlNode* inner = Enter(*node, path);
    if (inner == nullptr) break;
    node = inner;
  }
  return node->at;
}

}  // namespace

void ErrorList::Add(TextPosition at, std::string field, std::string message) {
  if (++count_ > kMaxErrors) return;
  errors_.push_back(
      {file_, at.line, at.column, std::move(field), std::move(message)});
}

std::vector<RuleFileError> ErrorList::Take() {
  absl::c_stable_sort(errors_, [](const auto& a, const auto& b) {
    return std::tie(a.line, a.column) < std::tie(b.line, b.column);
  });
  if (count_ > kMaxErrors) {
    errors_.push_back({file_, 0, 0, "",
                       absl::StrCat("got ", count_, " errors, of which ",
                                    kMaxErrors, " are listed, want none")});
  }
  return std::move(errors_);
}

std::string FieldValue::Got() const { return Described(*node_); }

void FieldValue::FailWant(absl::string_view want) const {
  Fail(absl::StrCat("got ", Got(), ", want ", want));
}

bool FieldValue::Check(const absl::Status& status,
                       absl::string_view field) const {
  if (status.ok()) return true;
  absl::string_view message = status.message();
  if (absl::ConsumePrefix(&message, field)) absl::ConsumePrefix(&message, ": ");
  Fail(std::string(message));
  return false;
}

bool FieldValue::CheckFields(const absl::Status& status) const {
  if (status.ok()) return true;
  const absl::string_view message = status.message();
  const size_t colon = std::min(message.find(": "), message.size());
  const absl::string_view field = message.substr(0, colon);
  errors_->Add(Locate(*node_, field), absl::StrCat(path_, ".", field),
               std::string(absl::StripPrefix(message.substr(colon), ": ")));
  return false;
}

void FieldValue::FailMissing(absl::string_view field,
                             absl::string_view want) const {
  errors_->Add(node_->at, Join(path_, field),
               absl::StrCat("got nothing, want ", want));
}

std::optional<absl::string_view> FieldValue::Text(
    absl::string_view want) const {
  if (node_->kind == YamlNode::Kind::kText) return node_->text;
  FailWant(want);
  return std::nullopt;
}

std::optional<uint64_t> FieldValue::Count(uint64_t max, uint64_t min) const {
  uint64_t value = 0;
  const bool is_digits = node_->kind == YamlNode::Kind::kText &&
                         absl::c_all_of(node_->text, absl::ascii_isdigit);
  if (is_digits && absl::SimpleAtoi(node_->text, &value) && value >= min &&
      value <= max) {
    return value;
  }
  FailWant(absl::StrCat("a whole number, ", min, " to ", max));
  return std::nullopt;
}

std::optional<uint32_t> FieldValue::Percent(uint32_t max, uint32_t min) const {
  uint32_t value = 0;
  absl::string_view digits = node_->text;
  if (node_->kind == YamlNode::Kind::kText &&
      absl::ConsumeSuffix(&digits, "%") &&
      absl::c_all_of(digits, absl::ascii_isdigit) &&
      absl::SimpleAtoi(digits, &value) && value >= min && value <= max) {
    return value;
  }
  FailWant(absl::StrCat("a whole percentage, ", min, "% to ", max, "%"));
  return std::nullopt;
}

std::vector<FieldValue> FieldValue::Items(absl::string_view want) const {
  std::vector<FieldValue> items;
  if (!is_list()) {
    FailWant(want);
    return items;
  }
  items.reserve(node_->items.size());
  for (const YamlNode* item : node_->items) {
    items.emplace_back(*item, absl::StrCat(path_, "[", items.size(), "]"),
                       *errors_);
  }
  return items;
}

std::vector<NamedValue> FieldValue::Entries(absl::string_view want) const {
  std::vector<NamedValue> entries;
  if (node_->kind != YamlNode::Kind::kMap) {
    FailWant(want);
    return entries;
  }
  absl::flat_hash_map<absl::string_view, TextPosition> seen;
  for (size_t i = 0; i + 1 < node_->items.size(); i += 2) {
    const YamlNode& name = *node_->items[i];
    if (name.kind != YamlNode::Kind::kText) {
      errors_->Add(name.at, path_,
                   absl::StrCat("got ", Described(name),
                                " as the name of a field, want text"));
      continue;
    }
    std::string path = Join(path_, name.text);
    const auto [first, is_new] = seen.emplace(name.text, name.at);
    if (!is_new) {
      errors_->Add(name.at, std::move(path),
                   absl::StrCat("got it twice, first at ", first->second.line,
                                ":", first->second.column, ", want it once"));
      continue;
    }
    entries.push_back({name.text, FieldValue(name, path, *errors_),
                       FieldValue(*node_->items[i + 1], path, *errors_)});
  }
  return entries;
}

const FieldValue* FindField(absl::Span<const NamedValue> fields,
                            absl::string_view name) {
  for (const NamedValue& field : fields) {
    if (field.name == name) return &field.value;
  }
  return nullptr;
}

void FailUnknown(const NamedValue& field,
                 absl::Span<const absl::string_view> known) {
  field.name_value.Fail(absl::StrCat("got an unknown field, want one of ",
                                     absl::StrJoin(known, ", "),
                                     DidYouMean(field.name, known)));
}

}  // namespace tollgate
