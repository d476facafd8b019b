#ifndef TOLLGATE_SERVER_RULES_RULE_FILE_H_
#define TOLLGATE_SERVER_RULES_RULE_FILE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/limiter/rule.h"
#include "server/limiter/token_bucket.h"

namespace tollgate {

// One mistake in a rule file.
struct RuleFileError {
  std::string file;     // as given, or directory/name
  int line = 0;         // from 1; 0 if the mistake is the whole file's
  int column = 0;       // from 1, in bytes; 0 with line 0
  std::string field;    // such as "rules[3].limit"; empty if it has none
  std::string message;  // such as `got "0/second", want at least 1 token`

  // `rules.yaml:12:12: rules[3].limit: got "0/second", want at least 1 token`
  [[nodiscard]] std::string ToString() const;
};

// What was read. All or nothing: the rules are usable only if there is no
// error, and the hash is empty if there is one.
struct LoadedRules {
  // In the order of the files' names and of the text, rules in mode off too.
  std::vector<Rule> rules;
  // Every mistake of every file, in the order of the files and of the text; of
  // one file at most 1,000, and then one that says how many there are.
  std::vector<RuleFileError> errors;
  // 32 hexadecimal digits over what the rules mean: the same whatever the
  // order of files and rules, the comments and the way that values are
  // written, and the same in every process. Not a secret and no signature.
  std::string hash;
};

inline constexpr size_t kMaxRuleFileBytes = 4 << 20;
// Of all files together; RuleSet::Create takes no more.
inline constexpr size_t kMaxRulesLoaded = 100'000;

// How Envoy-format files are read; it means nothing for native ones.
struct LoadOptions {
  // What their limits are: TokenBucket(), with a burst of requests_per_unit, or
  // FixedWindow(), as envoyproxy/ratelimit counts. Other algorithms are not for
  // these files.
  const Algorithm* envoy_algorithm = &TokenBucket();
  // Whether several of them may have one domain: their descriptors are then
  // those of one file after the other.
  bool merge_domains = false;
};

// The algorithm of that name that Envoy-format files may have, or null.
[[nodiscard]] const Algorithm* FindEnvoyAlgorithm(absl::string_view name);

// The functions below throw nothing, log nothing, and are thread-safe. The
// language they read is described in deploy/rules/README.md.

// Reads the text of one file, native or of the Envoy format, told apart by the
// top-level fields `rules` and `descriptors`. `file_name` is for messages.
[[nodiscard]] LoadedRules ParseRules(absl::string_view yaml,
                                     absl::string_view file_name,
                                     const LoadOptions& options = {});

// Reads a file, or the *.yaml and *.yml files of a directory in the order of
// their names. Names that begin with a dot, other files and directories within
// are ignored, so that a mounted Kubernetes ConfigMap works; links are
// followed. Files of both formats may stand side by side, but not with the same
// domain. A directory without a rule file is an error. Blocks on the disk.
[[nodiscard]] LoadedRules LoadRules(const std::string& path,
                                    const LoadOptions& options = {});

// OK if there are none, else INVALID_ARGUMENT with one error a line.
[[nodiscard]] absl::Status ToStatus(absl::Span<const RuleFileError> errors);

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_RULES_RULE_FILE_H_
