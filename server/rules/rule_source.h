#ifndef TOLLGATE_SERVER_RULES_RULE_SOURCE_H_
#define TOLLGATE_SERVER_RULES_RULE_SOURCE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace tollgate {

// Where rule files are found on the disk. Messages say `got ..., want ...`
// without a path. Thread-safe.

// `path` itself, or the rule files of the directory `path`, sorted by name.
// INVALID_ARGUMENT if there is none or the directory cannot be read.
[[nodiscard]] absl::StatusOr<std::vector<std::string>> ListRuleFiles(
    const std::string& path);

// The bytes of a file. INVALID_ARGUMENT if it cannot be read or is over
// kMaxRuleFileBytes.
[[nodiscard]] absl::StatusOr<std::string> ReadFileText(const std::string& path);

// The same message for a text that came from elsewhere.
[[nodiscard]] absl::Status TooManyBytes();

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_RULES_RULE_SOURCE_H_
