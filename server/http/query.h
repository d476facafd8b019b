#ifndef TOLLGATE_SERVER_HTTP_QUERY_H_
#define TOLLGATE_SERVER_HTTP_QUERY_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tollgate {

// The parameters of a query such as `a=b&c=d%20e`, decoded, in their order:
// %XX is a byte and '+' a space. One without '=' has an empty value; empty
// ones, as in `a=b&&c=d`, are left out. INVALID_ARGUMENT, naming the parameter
// by its place from 1, if a '%' is not followed by two hexadecimal digits.
[[nodiscard]] absl::StatusOr<std::vector<std::pair<std::string, std::string>>>
ParseQuery(absl::string_view query);

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_HTTP_QUERY_H_
