#ifndef TOLLGATE_SERVER_RULES_RULE_SOURCE_H_
#define TOLLGATE_SERVER_RULES_RULE_SOURCE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tollgate {

// Where rule files are found on the disk. Messages say `got ..., want ...`
// without a path. Thread-safe.

// Whether a file of that name in a directory of rules is a rule file.
[[nodiscard]] bool IsRuleFileName(absl::string_view name);

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
