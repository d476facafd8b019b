#ifndef TOLLGATE_SERVER_RULES_FIELD_VALUE_H_
#define TOLLGATE_SERVER_RULES_FIELD_VALUE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/rules/rule_file.h"
#include "server/rules/yaml_tree.h"

namespace tollgate {

// The mistakes found in one file. A file of nothing but mistakes could fill
// memory with messages, so there is a last one. Thread-compatible.
class ErrorList {
 public:
  static constexpr size_t kMaxErrors = 1000;

  explicit ErrorList(absl::string_view file) : file_(file) {}

  void Add(TextPosition at, std::string field, std::string message);

  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] size_t count() const { return count_; }
  // In the order of the text.
  [[nodiscard]] std::vector<RuleFileError> Take();

 private:
  const std::string file_;
  std::vector<RuleFileError> errors_;
  size_t count_ = 0;  // with those above kMaxErrors
};

struct NamedValue;

// A value in a rule file with the path of its field: what a field's reader is
// given. The readers of a type return nothing after reporting `got ..., want
// ...`, where `want` says it in words, with an example. Borrows the node and
// the list. Thread-compatible.
class FieldValue {
 public:
  FieldValue(const YamlNode& node, std::string path, ErrorList& errors)
      : node_(&node), path_(std::move(path)), errors_(&errors) {}

  [[nodiscard]] const YamlNode& node() const { return *node_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] TextPosition at() const { return node_->at; }
  [[nodiscard]] bool is_list() const {
    return node_->kind == YamlNode::Kind::kList;
  }

  [[nodiscard]] bool is_map() const {
    return node_->kind == YamlNode::Kind::kMap;
  }
  [[nodiscard]] size_t error_count() const { return errors_->count(); }

  // Its text, or `a list`, `a map`, `nothing`: what a message got.
  [[nodiscard]] std::string Got() const;

  void Fail(std::string message) const {
    errors_->Add(node_->at, path_, std::move(message));
  }
  // Fails with `got <this>, want <want>`.
  void FailWant(absl::string_view want) const;
  // Unless the status is OK, fails with its message, less the `field: ` that it
  // begins with. Whether it is OK.
  bool Check(const absl::Status& status, absl::string_view field) const;
  // The same for a status about any field of this map or within its fields,
  // reported at the innermost of those that is there.
  bool CheckFields(const absl::Status& status) const;
  // Reports a field that is not there, at the place of this map.
  void FailMissing(absl::string_view field, absl::string_view want) const;

  // The text of a scalar. Lives as long as the tree.
  [[nodiscard]] std::optional<absl::string_view> Text(
      absl::string_view want) const;
  // A whole number in decimal digits, `min` to `max`.
  [[nodiscard]] std::optional<uint64_t> Count(uint64_t max,
                                              uint64_t min = 1) const;
  // A whole number of percent, such as 25%, `min` to `max`.
  [[nodiscard]] std::optional<uint32_t> Percent(uint32_t max,
                                                uint32_t min = 0) const;
  // The items of a list, as path[0], path[1], ...
  [[nodiscard]] std::vector<FieldValue> Items(absl::string_view want) const;
  // The fields of a map, as path.name. Names that are not text, and those
  // given before, are reported and left out.
  [[nodiscard]] std::vector<NamedValue> Entries(absl::string_view want) const;

 private:
  const YamlNode* node_;
  std::string path_;
  ErrorList* errors_;
};

// One field of a map. The name lives as long as the tree.
struct NamedValue {
  absl::string_view name;
  FieldValue name_value;  // to speak of the name itself
  FieldValue value;
};

// One field that a map may have, and what reads it; null if that is left to
// whoever has the fields that it depends on. To add a field to a map, add an
// entry to its table.
template <typename T>
struct FieldReader {
  absl::string_view name;
  void (*read)(const FieldValue& value, T& out);
};

// The error for a name that no reader has.
void FailUnknown(const NamedValue& field,
                 absl::Span<const absl::string_view> known);

// The value of that name, or null.
[[nodiscard]] const FieldValue* FindField(absl::Span<const NamedValue> fields,
                                          absl::string_view name);

// Reads each field of a map with its reader, in the order of the file, and
// returns them all. `want` is for a value that is no map.
template <typename T>
std::vector<NamedValue> ReadFields(const FieldValue& map,
                                   absl::string_view want,
                                   absl::Span<const FieldReader<T>> readers,
                                   T& out) {
  std::vector<NamedValue> fields = map.Entries(want);
  for (const NamedValue& field : fields) {
    const FieldReader<T>* found = nullptr;
    for (const FieldReader<T>& reader : readers) {
      if (reader.name == field.name) found = &reader;
    }
    if (found != nullptr) {
      if (found->read != nullptr) found->read(field.value, out);
      continue;
    }
    std::vector<absl::string_view> known;
    for (const FieldReader<T>& reader : readers) known.push_back(reader.name);
    FailUnknown(field, known);
  }
  return fields;
}

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_RULES_FIELD_VALUE_H_
