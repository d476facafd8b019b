#include "client/cli/check.h"

#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cli/cli.h"
#include "client/cli/entries.h"
#include "client/cli/json.h"
#include "client/client.h"
#include "client/wire.h"

namespace tollgate::cli {
namespace {

absl::StatusOr<client::Request> ToRequest(const CheckOptions& options) {
  client::Request request;
  request.domain = options.domain;
  request.cost = options.cost;
  if (!options.entries.empty()) {
    absl::StatusOr<client::Descriptor> first = ParseEntries(options.entries);
    if (!first.ok()) return first.status();
    request.descriptors.push_back(*std::move(first));
  }
  for (const std::string& text : options.descriptors) {
    absl::StatusOr<client::Descriptor> more = ParseDescriptor(text);
    if (!more.ok()) return more.status();
    request.descriptors.push_back(*std::move(more));
  }
  if (request.descriptors.empty()) {
    return absl::InvalidArgumentError(
        "got no entry, want KEY=VALUE... or --descriptor");
  }
  return request;
}

absl::StatusOr<client::Decision> Ask(const CheckOptions& options) {
  absl::StatusOr<client::Request> request = ToRequest(options);
  if (!request.ok()) return request.status();
  const absl::StatusOr<absl::Duration> timeout =
      ParseTime("--timeout", options.timeout);
  if (!timeout.ok()) return timeout.status();
  client::ClientOptions client_options;
  client_options.target = options.server;
  client_options.timeout = *timeout;
  const auto client = client::Client::Create(client_options);
  if (!client.ok()) return client.status();
  return (*client)->ShouldAllow(*request);
}

void Complain(const CheckOptions& options, const client::Decision& decision,
              std::ostream& err) {
  if (absl::IsInvalidArgument(decision.error)) {
    err << "tollgate check: " << decision.error.message() << "\n";
    return;
  }
  err << "tollgate check: no answer from " << options.server << ": "
      << decision.error.ToString() << "\n"
      << "Is tollgate-server running there? An application's client would "
         "have said: "
      << client::OutcomeName(decision.outcome) << " by "
      << client::SourceName(decision.source) << ".\n";
}

using Row = std::array<std::string, 6>;

Row ToRow(const client::RuleStatus& status) {
  std::string outcome(client::OutcomeName(status.outcome));
  if (status.shadow) outcome += " (shadow)";
  return {status.rule,
          absl::StrCat(status.tokens, "/", absl::FormatDuration(status.period)),
          absl::StrCat(status.remaining, " of ", status.burst),
          absl::FormatDuration(status.reset_after),
          absl::FormatDuration(status.retry_after),
          std::move(outcome)};
}

}  // namespace

std::string DecisionText(const client::Decision& decision) {
  std::string text = absl::StrCat(client::OutcomeName(decision.outcome), " by ",
                                  client::SourceName(decision.source));
  if (decision.outcome == client::Outcome::kRefused) {
    absl::StrAppend(&text, ", try again in ",
                    absl::FormatDuration(decision.retry_after));
  } else if (decision.outcome == client::Outcome::kImpossible) {
    absl::StrAppend(&text, ", waiting will not help");
  }
  if (decision.statuses.empty())
    return absl::StrCat(text, ": no rule applies\n");
  absl::StrAppend(&text, "\n");

  std::vector<Row> rows{
      {"RULE", "LIMIT", "LEFT", "FULL IN", "RETRY IN", "OUTCOME"}};
  for (const client::RuleStatus& status : decision.statuses) {
    rows.push_back(ToRow(status));
  }
  std::array<size_t, std::tuple_size_v<Row>> widths{};
  for (const Row& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      widths.at(i) = std::max(widths.at(i), row.at(i).size());
    }
  }
  for (const Row& row : rows) {
    for (size_t i = 0; i + 1 < row.size(); ++i) {
      absl::StrAppendFormat(&text, "  %-*s", static_cast<int>(widths.at(i)),
                            row.at(i));
    }
    absl::StrAppend(&text, "  ", row.back(), "\n");
  }
  return text;
}

std::string DecisionJson(const client::Decision& decision) {
  google::protobuf::util::JsonPrintOptions print;
  print.always_print_primitive_fields = true;  // "remaining": "0" says a lot
  std::string json;
  // Fails for nothing that ToMessage makes.
  (void)google::protobuf::util::MessageToJsonString(client::ToMessage(decision),
                                                    &json, print);
  if (!json.empty()) json.pop_back();  // its "}"
  absl::StrAppend(
      &json, ",\"source\":", JsonString(client::SourceName(decision.source)));
  if (!decision.error.ok()) {
    absl::StrAppend(&json, ",\"error\":{\"code\":",
                    JsonString(absl::StatusCodeToString(decision.error.code())),
                    ",\"message\":", JsonString(decision.error.message()), "}");
  }
  return absl::StrCat(json, "}");
}

int RunCheck(const CheckOptions& options, std::ostream& out,
             std::ostream& err) {
  const absl::StatusOr<client::Decision> decision = Ask(options);
  if (!decision.ok()) {
    err << "tollgate check: " << decision.status().message() << "\n";
    return kExitError;
  }
  const bool answered = decision->source == client::Source::kService;
  if (options.json) {
    out << DecisionJson(*decision) << "\n";
  } else if (answered) {
    out << DecisionText(*decision);
  }
  if (!answered) {
    Complain(options, *decision, err);
    return kExitError;
  }
  return decision->allowed ? kExitOk : kExitNo;
}

}  // namespace tollgate::cli
