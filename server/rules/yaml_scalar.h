#ifndef TOLLGATE_SERVER_RULES_YAML_SCALAR_H_
#define TOLLGATE_SERVER_RULES_YAML_SCALAR_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "server/rules/yaml_tree.h"

namespace tollgate {

// What a scalar is under the rules of YAML 1.1 as yaml.v2 applies them, which
// Envoy-format files are written for: there `yes` is a truth value, 0x10 a
// number and 010 the number 8. Quoted text is text.
struct YamlScalar {
  enum class Type {
    kNull,
    kBool,
    kInt,       // fits in 64 bits with a sign
    kLargeInt,  // fits in 64 bits without one
    kFloat,
    kText,
  };
  Type type = Type::kText;
  bool boolean = false;
  int64_t integer = 0;
  double floating = 0;  // also of a kLargeInt
};

// `node` must be kText or kNull. Thread-safe.
[[nodiscard]] YamlScalar ResolveScalar(const YamlNode& node);

// "!!int", "!!str", "!!map", ...: the node's type, as messages about it name
// it. Thread-safe.
[[nodiscard]] absl::string_view YamlTag(const YamlNode& node);

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_RULES_YAML_SCALAR_H_
