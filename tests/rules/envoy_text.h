#ifndef TOLLGATE_TESTS_RULES_ENVOY_TEXT_H_
#define TOLLGATE_TESTS_RULES_ENVOY_TEXT_H_

#include <string>

#include "server/rules/rule_file.h"

namespace tollgate {

inline std::string Errors(const LoadedRules& loaded) {
  return std::string(ToStatus(loaded.errors).message());
}

// An Envoy-format file with this one descriptor.
inline std::string File(const std::string& descriptor) {
  return "domain: d\ndescriptors:\n- " + descriptor + "\n";
}

}  // namespace tollgate

#endif  // TOLLGATE_TESTS_RULES_ENVOY_TEXT_H_
