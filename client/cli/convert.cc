#include "client/cli/convert.h"

#include <iterator>
#include <set>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/cli.h"
#include "server/rules/convert.h"

namespace tollgate::cli {
namespace {

absl::StatusOr<std::vector<Rule>> Load(const ConvertOptions& options) {
  std::vector<Rule> rules;
  for (const std::string& path : options.paths) {
    LoadedRules loaded = LoadRules(path, options.load);
    const absl::Status readable = ToStatus(loaded.errors);
    if (!readable.ok()) return readable;
    for (Rule& rule : loaded.rules) {
      if (rule.node.has_value()) rules.push_back(std::move(rule));
    }
  }
  return rules;
}

// The rules of the one domain that is meant.
absl::StatusOr<std::vector<Rule>> OfDomain(std::vector<Rule> rules,
                                           const std::string& domain) {
  std::set<std::string> domains;
  std::vector<Rule> chosen;
  for (Rule& rule : rules) {
    domains.insert(rule.domain);
    if (domain.empty() || rule.domain == domain) {
      chosen.push_back(std::move(rule));
    }
  }
  if (domains.empty()) {
    return absl::InvalidArgumentError("got no file of the Envoy format");
  }
  if (chosen.empty() || (domain.empty() && domains.size() > 1)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--domain: got ", domain.empty() ? "none" : domain,
                     ", want one of ", absl::StrJoin(domains, ", ")));
  }
  return chosen;
}

}  // namespace

int RunConvert(const ConvertOptions& options, const Output& output) {
  absl::StatusOr<std::vector<Rule>> rules = Load(options);
  if (rules.ok()) rules = OfDomain(*std::move(rules), options.domain);
  if (!rules.ok()) {
    output.err << "tollgate convert: " << rules.status().message() << "\n";
    return kExitError;
  }
  output.out << ToNativeYaml(*rules);
  return kExitOk;
}

}  // namespace tollgate::cli
