#include "client/cli/explain.h"

#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/cli.h"
#include "client/cli/json.h"
#include "client/cli/local_rules.h"

namespace tollgate::cli {
namespace {

// Fills in the domain too.
absl::StatusOr<v1::ExplainResponse> Explain(ExplainOptions& options) {
  std::string& domain = options.request.domain;
  absl::StatusOr<client::Request> request = ToRequest(options.request);
  if (!request.ok()) return request.status();
  if (options.rules.empty()) {
    if (domain.empty()) domain = kDefaultDomain;
    request->domain = domain;
    v1::ExplainRequest message;
    FillAdminRequest(*request, message);
    message.set_cost(request->cost);
    return CallAdmin(options.server, message);
  }
  const absl::StatusOr<LocalRules> rules =
      LocalRules::Load(options.rules, options.load);
  if (!rules.ok()) return rules.status();
  if (domain.empty()) {
    absl::StatusOr<std::string> only = rules->OnlyDomain();
    if (!only.ok()) return only.status();
    domain = *std::move(only);
  }
  request->domain = domain;
  return rules->Explain(*request);
}

std::string Notes(const v1::RuleExplanation& rule, size_t descriptors) {
  std::vector<std::string> notes;
  if (!rule.tier().empty()) notes.push_back(absl::StrCat("tier ", rule.tier()));
  if (rule.reserved() > 0) {
    notes.push_back(absl::StrCat("leaves ", rule.reserved(), " for others"));
  }
  // An allow-list has none, and nor has an earlier server's answer.
  if (!rule.limits().empty() && rule.overflow_percent() != 0 &&
      rule.overflow_percent() != 100) {
    notes.push_back(
        absl::StrCat("overflow_share ", rule.overflow_percent(), "%"));
  }
  if (descriptors > 1) {
    notes.push_back(absl::StrCat("descriptor ", rule.descriptor_index()));
  }
  return absl::StrJoin(notes, ", ");
}

void AddApplying(const v1::RuleExplanation& rule, size_t number,
                 size_t descriptors, Table& table) {
  const bool unlimited = rule.limits().empty();
  table.AddRow(
      {{absl::StrCat(number), Tint::kDim},
       {rule.rule(), Tint::kBold},
       {rule.key().empty() ? "(one for all)" : rule.key()},
       {unlimited ? "unlimited" : absl::StrJoin(rule.limits(), ", ")},
       {unlimited ? "" : absl::StrCat(rule.cost())},
       {rule.mode(), rule.mode() == "shadow" ? Tint::kYellow : Tint::kGreen},
       {Notes(rule, descriptors)}});
}

std::string Headline(absl::string_view domain,
                     const v1::ExplainResponse& response) {
  std::set<std::string> all;
  std::set<std::string> applying;
  for (const v1::RuleExplanation& rule : response.rules()) {
    all.insert(rule.rule());
    if (rule.applies()) applying.insert(rule.rule());
  }
  if (all.empty()) {
    return absl::StrCat(domain, ": no rule has this domain, so it allows all");
  }
  if (applying.empty()) {
    return absl::StrCat(domain, ": none of ", Counted(all.size(), "rule"),
                        " applies, so the request is allowed");
  }
  return absl::StrCat(domain, ": ", applying.size(), " of ",
                      Counted(all.size(), "rule"),
                      applying.size() == 1 ? " applies" : " apply");
}

}  // namespace

std::string ExplainText(absl::string_view domain, size_t descriptors,
                        const v1::ExplainResponse& response, Palette palette) {
  Table applying({"#", "RULE", "BUCKET", "LIMIT", "COST", "MODE", "NOTES"});
  Table others({"RULE", "DOES NOT APPLY BECAUSE"});
  size_t number = 0;
  int other_count = 0;
  for (const v1::RuleExplanation& rule : response.rules()) {
    if (rule.applies()) {
      AddApplying(rule, ++number, descriptors, applying);
    } else {
      others.AddRow({{rule.rule()}, {rule.reason()}});
      ++other_count;
    }
  }
  std::string text = absl::StrCat(
      Tinted(Headline(domain, response), Tint::kBold, palette), "\n");
  if (number > 0) absl::StrAppend(&text, "\n", applying.ToString(palette));
  if (other_count > 0) absl::StrAppend(&text, "\n", others.ToString(palette));
  return text;
}

int RunExplain(ExplainOptions options, const Output& output) {
  const absl::StatusOr<v1::ExplainResponse> response = Explain(options);
  if (!response.ok()) {
    output.err << "tollgate explain: " << response.status().message() << "\n";
    return kExitError;
  }
  if (options.json) {
    output.out << MessageJson(*response) << "\n";
    return kExitOk;
  }
  const RequestOptions& request = options.request;
  output.out << ExplainText(
      request.domain, request.descriptors.size() + !request.entries.empty(),
      *response, output.palette);
  return kExitOk;
}

}  // namespace tollgate::cli
