#include "client/cli/rules.h"

#include <map>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/cli.h"
#include "client/cli/json.h"
#include "client/cli/local_rules.h"

namespace tollgate::cli {
namespace {

absl::StatusOr<v1::GetRulesResponse> Get(const RulesOptions& options) {
  if (options.rules.empty()) {
    v1::GetRulesRequest request;
    request.set_domain(options.domain);
    return CallAdmin(options.server, request);
  }
  const absl::StatusOr<LocalRules> rules =
      LocalRules::Load(options.rules, options.load);
  if (!rules.ok()) return rules.status();
  return rules->Get(options.domain);
}

std::string Limits(const v1::RuleInfo& rule) {
  if (rule.unlimited()) return "unlimited";
  return absl::StrJoin(rule.limits(), ", ",
                       [](std::string* out, const v1::LimitInfo& limit) {
                         if (!limit.tier().empty()) {
                           absl::StrAppend(out, limit.tier(), ": ");
                         }
                         absl::StrAppend(out, limit.text());
                       });
}

// With what is not as it mostly is.
std::string Notes(const v1::RuleInfo& rule) {
  std::vector<std::string> notes;
  if (rule.cost() > 1) notes.push_back(absl::StrCat("cost ", rule.cost()));
  notes.insert(notes.end(), rule.notes().begin(), rule.notes().end());
  if (!rule.unlimited() && !rule.on_outage().empty() &&
      rule.on_outage() != "backstop") {
    notes.push_back(absl::StrCat("on outage ", rule.on_outage()));
  }
  return absl::StrJoin(notes, "; ");
}

std::vector<Cell> ToRow(const v1::RuleInfo& rule) {
  return {
      {rule.name(), Tint::kBold},
      {absl::StrJoin(rule.match(), ", ")},
      {rule.unlimited()     ? ""
       : rule.key().empty() ? "(one for all)"
                            : absl::StrJoin(rule.key(), ", ")},
      {Limits(rule)},
      {rule.algorithm()},
      {rule.mode(), rule.mode() == "enforce" ? Tint::kGreen : Tint::kYellow},
      {Notes(rule)}};
}

}  // namespace

std::string RulesText(const v1::GetRulesResponse& response, Palette palette) {
  std::vector<std::string> order;
  std::map<std::string, std::vector<const v1::RuleInfo*>> domains;
  for (const v1::RuleInfo& rule : response.rules()) {
    std::vector<const v1::RuleInfo*>& rules = domains[rule.domain()];
    if (rules.empty()) order.push_back(rule.domain());
    rules.push_back(&rule);
  }
  std::string text =
      absl::StrCat(Counted(static_cast<size_t>(response.rules_size()), "rule"),
                   " in ", Counted(order.size(), "domain"), ", hash ",
                   Tinted(response.hash(), Tint::kDim, palette), "\n");
  for (const std::string& domain : order) {
    Table table(
        {"RULE", "MATCH", "KEY", "LIMIT", "ALGORITHM", "MODE", "NOTES"});
    for (const v1::RuleInfo* rule : domains[domain]) {
      table.AddRow(ToRow(*rule));
    }
    absl::StrAppend(&text, "\n", Tinted(domain, Tint::kBold, palette), "\n",
                    table.ToString(palette));
  }
  return text;
}

int RunRules(const RulesOptions& options, const Output& output) {
  const absl::StatusOr<v1::GetRulesResponse> response = Get(options);
  if (!response.ok()) {
    output.err << "tollgate rules: " << response.status().message() << "\n";
    return kExitError;
  }
  if (options.json) {
    output.out << MessageJson(*response) << "\n";
  } else {
    output.out << RulesText(*response, output.palette);
  }
  return kExitOk;
}

}  // namespace tollgate::cli
