#include "server/rules/envoy_limits.h"

#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "server/limiter/limit_unit.h"
#include "server/rules/quote.h"

namespace tollgate {
namespace {

void ReadReplaces(const EnvoyFields& fields, NodeLimit& limit) {
  for (const EnvoyFields& replaced :
       fields.Maps("replaces", "[]config.yamlReplaces")) {
    std::string name = replaced.Text("name");
    if (name.empty()) {
      replaced.Fail("name", "should not have an empty replaces entry");
    } else if (name == limit.name) {
      replaced.Fail("name",
                    "replaces should not contain name of same descriptor");
    } else {
      limit.replaces.push_back(std::move(name));
    }
  }
}

// The limit that is charged; nothing if there is none or it is wrong.
std::optional<Limit> ReadRate(const EnvoyFields& fields, NodeLimit& limit) {
  const std::string unit = fields.Text("unit");
  limit.unit = ParseLimitUnit(unit);
  const std::optional<absl::Duration> period = PeriodOf(limit.unit);
  if (limit.unlimited) {
    if (period.has_value()) {
      fields.Fail("unit", "should not specify rate limit unit when unlimited");
    }
    limit.unit = LimitUnit::kUnknown;
    return std::nullopt;
  }
  limit.requests_per_unit = fields.Number("requests_per_unit");
  limit.unit_multiplier = fields.Number("unit_multiplier", 1);
  if (!period.has_value()) {
    fields.Fail("unit",
                absl::StrCat("invalid rate limit unit '", Clip(unit), "'"));
    return std::nullopt;
  }
  if (limit.unit_multiplier == 0) {
    fields.Fail("unit_multiplier", "got 0, want at least 1");
    return std::nullopt;
  }
  const absl::StatusOr<Limit> made =
      Limit::Create(limit.requests_per_unit == 0 ? 1 : limit.requests_per_unit,
                    *period * limit.unit_multiplier);
  if (!made.ok()) {
    fields.Fail("unit_multiplier", std::string(made.status().message()));
    return std::nullopt;
  }
  if (limit.requests_per_unit == 0) return std::nullopt;
  return *made;
}

}  // namespace

void ReadRateLimit(const EnvoyFields& descriptor, Rule& rule) {
  const YamlNode* value = descriptor.Find("rate_limit");
  if (value == nullptr) return;
  const std::vector<EnvoyFields> all =
      descriptor.MapOrMaps("rate_limit", "config.YamlRateLimit");
  if (value->kind == YamlNode::Kind::kList &&
      (all.empty() || all.size() > kMaxLimits)) {
    descriptor.Fail("rate_limit",
                    absl::StrCat("got a list of ", all.size(),
                                 " limits, want 1 to ", kMaxLimits));
    return;
  }
  for (const EnvoyFields& fields : all) {
    NodeLimit& limit = rule.node->limits.emplace_back();
    limit.unlimited = fields.Flag("unlimited");
    limit.name = fields.Text("name");
    const std::optional<Limit> rate = ReadRate(fields, limit);
    if (rate.has_value()) rule.limits.push_back(*rate);
    ReadReplaces(fields, limit);
  }
}

}  // namespace tollgate
