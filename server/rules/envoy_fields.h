#ifndef TOLLGATE_SERVER_RULES_ENVOY_FIELDS_H_
#define TOLLGATE_SERVER_RULES_ENVOY_FIELDS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "server/rules/field_value.h"
#include "server/rules/yaml_map.h"

namespace tollgate {

// A map of an Envoy-format file, read field by field as that product's decoder
// does: a field that is not there, or is null, has the zero value of its type;
// one of another type is reported in that decoder's words, and then has the
// zero value too. Borrows the tree and the list.
class EnvoyFields {
 public:
  EnvoyFields(const YamlNode& map, std::string path, ErrorList& errors)
      : node_(&map), map_(map), path_(std::move(path)), errors_(&errors) {}

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const YamlNode& node() const { return *node_; }
  // Null if it is not there or null.
  [[nodiscard]] const YamlNode* Find(absl::string_view name) const;

  // A scalar's source text.
  [[nodiscard]] std::string Text(absl::string_view name) const;
  [[nodiscard]] bool Flag(absl::string_view name) const;
  // 0 to 2^32-1; `absent` if it is not there.
  [[nodiscard]] uint32_t Number(absl::string_view name,
                                uint32_t absent = 0) const;
  // The maps of a list, as name[0], name[1], ...; `type` is what the decoder
  // calls the list.
  [[nodiscard]] std::vector<EnvoyFields> Maps(absl::string_view name,
                                              absl::string_view type) const;
  // The same, or a single map, as name.
  [[nodiscard]] std::vector<EnvoyFields> MapOrMaps(
      absl::string_view name, absl::string_view type) const;

  // Reports a mistake at the field, or at the map where there is none.
  void Fail(absl::string_view name, std::string message) const;
  // Reports that `value` is not of `type`.
  void FailType(const YamlNode& value, absl::string_view type) const;

 private:
  const YamlNode* node_;
  YamlMap map_;
  std::string path_;
  ErrorList* errors_;
};

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_RULES_ENVOY_FIELDS_H_
