#ifndef TOLLGATE_SERVER_RULES_ENVOY_FILE_H_
#define TOLLGATE_SERVER_RULES_ENVOY_FILE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "server/limiter/rule.h"
#include "server/rules/envoy_fields.h"
#include "server/rules/field_value.h"
#include "server/rules/rule_file.h"
#include "server/rules/yaml_tree.h"

namespace tollgate {

// Whether a file's top-level fields are those of the Envoy format.
[[nodiscard]] bool IsEnvoyFormat(const YamlNode& root);

// Whether a text that is no YAML was meant to be of the Envoy format.
[[nodiscard]] bool LooksLikeEnvoyFormat(absl::string_view text);

// Of all files together: what keys, values and metadata may take, a node's path
// and aliases counted in full.
inline constexpr size_t kMaxEnvoyBytes = 64 << 20;

// Turns Envoy-format files into rules with nodes, one for each descriptor that
// has a limit or no descriptors within, and one named `_override` for each
// domain. Mistakes are reported in the words that operators of
// envoyproxy/ratelimit know; deploy/rules/README.md describes the format.
// Thread-compatible.
class EnvoyLoader {
 public:
  explicit EnvoyLoader(const LoadOptions& options) : options_(options) {}

  // Adds the rules of one file to `rules`; at most `max_rules`. `root` must be
  // of the Envoy format.
  void Add(const YamlNode& root, size_t max_rules, ErrorList& errors,
           std::vector<Rule>& rules);

  // The file that first named the domain, or null.
  [[nodiscard]] const std::string* FileOf(absl::string_view domain) const;

 private:
  struct Domain {
    std::string file;
    absl::flat_hash_set<std::string> top_level;  // composite keys
    absl::flat_hash_set<std::string> names;      // of rules
  };
  // The descriptor being read.
  struct Place {
    std::string dotted;  // its path from the domain, as messages name it
    std::vector<NodeStep> path;
  };

  void ReadDescriptors(const std::vector<EnvoyFields>& descriptors,
                       absl::flat_hash_set<std::string>& siblings,
                       Place& place);
  void ReadDescriptor(const EnvoyFields& fields,
                      absl::flat_hash_set<std::string>& siblings, Place& place);
  void AddRule(const EnvoyFields& fields, bool is_leaf, const Place& place);
  [[nodiscard]] std::string NameOf(const std::vector<NodeStep>& path);

  const LoadOptions options_;
  absl::flat_hash_map<std::string, Domain> domains_;
  size_t bytes_ = 0;
  // While a file is read:
  std::string domain_name_;
  Domain* domain_ = nullptr;
  std::vector<Rule>* rules_ = nullptr;
  size_t max_rules_ = 0;
  bool full_ = false;  // no more is taken
};

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_RULES_ENVOY_FILE_H_
