#ifndef TOLLGATE_SERVER_RULES_YAML_MAP_H_
#define TOLLGATE_SERVER_RULES_YAML_MAP_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "server/rules/yaml_tree.h"

namespace tollgate {

// The fields of a YAML map as Envoy-format files mean them: of equal keys the
// last one counts, and what `<<` merges in counts where the map itself does not
// say otherwise. Borrows the tree.
class YamlMap {
 public:
  struct Field {
    const YamlNode* key;
    const YamlNode* value;
  };

  // `node` must be a map.
  explicit YamlMap(const YamlNode& node);

  // In the order in which their keys first appear, merged ones last.
  [[nodiscard]] const std::vector<Field>& fields() const { return fields_; }
  // The value of that key, or null.
  [[nodiscard]] const YamlNode* Find(absl::string_view key) const;

  // Whether the key is text and not a number, a truth value or nothing.
  [[nodiscard]] static bool IsTextKey(const YamlNode& key);

 private:
  enum class Rank { kOwn, kMerged };

  void Add(const YamlNode& map, Rank rank, int depth);
  void Merge(const YamlNode& from, int depth);
  void Put(const YamlNode& key, const YamlNode& value, Rank rank);

  std::vector<Field> fields_;
  absl::flat_hash_map<std::pair<absl::string_view, bool>, size_t> by_key_;
};

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_RULES_YAML_MAP_H_
