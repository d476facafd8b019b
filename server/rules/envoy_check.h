#ifndef TOLLGATE_SERVER_RULES_ENVOY_CHECK_H_
#define TOLLGATE_SERVER_RULES_ENVOY_CHECK_H_

#include "server/rules/field_value.h"
#include "server/rules/yaml_tree.h"

namespace tollgate {

// How deep lists and maps may be nested in an Envoy-format file.
inline constexpr int kMaxEnvoyDepth = 400;

// Checks what an Envoy-format file is made of, whatever stands where: map keys
// that are text and known, lists of maps alone, scalars that are no fractions.
// What is below `metadata` is free. `root` must be a map. Reports every mistake
// in the words that operators of envoyproxy/ratelimit know. Whether there is
// none.
bool CheckEnvoyYaml(const YamlNode& root, ErrorList& errors);

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_RULES_ENVOY_CHECK_H_
