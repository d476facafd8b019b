#ifndef TOLLGATE_SERVER_RULES_CONVERT_H_
#define TOLLGATE_SERVER_RULES_CONVERT_H_

#include <string>

#include "absl/types/span.h"
#include "server/limiter/rule.h"

namespace tollgate {

// The rules of one domain that come from Envoy-format files, as a native rule
// file. Where that cannot say the same, a comment that begins with `differs:`
// says how. Without such a comment, requests of one descriptor whose entries
// are those of a path, no more and no less, are decided the same, but for what
// native rules never do: they answer with a name of their own and charge a
// bucket once a request. `rules` must be valid. Thread-safe.
[[nodiscard]] std::string ToNativeYaml(absl::Span<const Rule> rules);

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_RULES_CONVERT_H_
