#include "client/cli/local_rules.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "client/cli/rule_messages.h"
#include "server/base/keyed_hash.h"
#include "server/limiter/explain.h"
#include "server/limiter/request.h"

namespace tollgate::cli {

absl::StatusOr<LocalRules> LocalRules::Load(const std::string& path,
                                            const LoadOptions& options) {
  LoadedRules loaded = LoadRules(path, options);
  const absl::Status readable = ToStatus(loaded.errors);
  if (!readable.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, " has mistakes:\n", readable.message()));
  }
  absl::StatusOr<RuleSet> rules = RuleSet::Create(std::move(loaded.rules));
  if (!rules.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": ", rules.status().message()));
  }
  LocalRules local;
  local.rules_ = *std::move(rules);
  local.hash_ = std::move(loaded.hash);
  // Neither the secret nor the time matters to anybody without buckets.
  const absl::Status bound =
      local.rules_.Bind(*local.registry_, HashKey{}, /*now_ns=*/0);
  if (!bound.ok()) return bound;
  return local;
}

absl::StatusOr<std::string> LocalRules::OnlyDomain() const {
  std::vector<std::string> names;
  for (const auto& domain : rules_.domains()) names.push_back(domain->name);
  if (names.size() == 1) return names.front();
  return absl::InvalidArgumentError(
      names.empty() ? "the files have no rule in force"
                    : absl::StrCat("--domain: got none, want one of ",
                                   absl::StrJoin(names, ", ")));
}

v1::GetRulesResponse LocalRules::Get(absl::string_view domain) const {
  v1::GetRulesResponse response;
  response.set_hash(hash_);
  for (const auto& each : rules_.domains()) {
    if (!domain.empty() && each->name != domain) continue;
    for (const BoundRule& bound : each->rules) {
      *response.add_rules() = ToMessage(bound.rule);
    }
  }
  return response;
}

absl::StatusOr<v1::ExplainResponse> LocalRules::Explain(
    const client::Request& request) const {
  std::vector<std::vector<Entry>> entries;
  for (const client::Descriptor& descriptor : request.descriptors) {
    std::vector<Entry>& to = entries.emplace_back();
    for (const client::Entry& entry : descriptor) {
      to.push_back({entry.key, entry.value});
    }
  }
  const std::vector<Descriptor> descriptors(entries.begin(), entries.end());
  Request asked;
  asked.domain = request.domain;
  asked.descriptors = descriptors;
  asked.cost = request.cost;
  const absl::Status valid = ValidateRequest(asked);
  if (!valid.ok()) return valid;
  v1::ExplainResponse response;
  for (const RuleExplanation& each : tollgate::Explain(rules_, asked)) {
    *response.add_rules() = ToMessage(each);
  }
  return response;
}

}  // namespace tollgate::cli
