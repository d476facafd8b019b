#ifndef TOLLGATE_SERVER_RULES_YAML_JSON_H_
#define TOLLGATE_SERVER_RULES_YAML_JSON_H_

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "server/rules/yaml_tree.h"

namespace tollgate {

inline constexpr size_t kMaxJsonBytes = 64 << 10;
inline constexpr int kMaxJsonDepth = 64;

// The node as JSON, its scalars typed as in yaml_scalar.h, keys in the order of
// the file and the last of equal ones. INVALID_ARGUMENT for a key that is no
// text, a number that JSON does not have, more than kMaxJsonBytes or deeper
// than kMaxJsonDepth. Thread-safe.
[[nodiscard]] absl::StatusOr<std::string> ToJson(const YamlNode& node);

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_RULES_YAML_JSON_H_
