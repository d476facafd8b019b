#include "server/limiter/node_rule.h"

#include "absl/strings/str_cat.h"
#include "server/limiter/request.h"

namespace tollgate {
namespace {

absl::Status CheckLimit(const NodeLimit& limit, size_t i) {
  const std::string field = absl::StrCat("node.limits[", i, "]");
  if (limit.unlimited) return absl::OkStatus();
  if (!PeriodOf(limit.unit).has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat(field, ".unit: got none, want a unit of time"));
  }
  if (limit.unit_multiplier < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(field, ".unit_multiplier: got 0, want at least 1"));
  }
  if (limit.requests_per_unit > kMaxCost) {
    return absl::InvalidArgumentError(
        absl::StrCat(field, ".requests_per_unit: got ", limit.requests_per_unit,
                     ", want at most ", kMaxCost));
  }
  return absl::OkStatus();
}

}  // namespace

bool NodeStep::is_wildcard() const {
  return absl::StrCat(key, value).find('*') != std::string::npos;
}

std::string NodeStep::ToString() const {
  return value.empty() ? key : absl::StrCat(key, "_", value);
}

absl::Status ValidateNode(const NodeRule& node) {
  for (size_t i = 0; i < node.path.size(); ++i) {
    if (node.path[i].key.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("node.path[", i, "].key: empty"));
    }
  }
  for (size_t i = 0; i < node.limits.size(); ++i) {
    absl::Status status = CheckLimit(node.limits[i], i);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace tollgate
