#include "client/cli/check.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "client/cli/cli.h"
#include "client/cli/entries.h"
#include "client/cli/json.h"
#include "client/cli/status_table.h"
#include "client/client.h"
#include "client/wire.h"

namespace tollgate::cli {
namespace {

absl::StatusOr<client::Decision> Ask(const CheckOptions& options) {
  absl::StatusOr<client::Request> request = ToRequest(options.request);
  if (!request.ok()) return request.status();
  const absl::StatusOr<absl::Duration> timeout =
      ParseTime("--timeout", options.timeout);
  if (!timeout.ok()) return timeout.status();
  auto tls = ReadTls(options.tls);
  if (!tls.ok()) return tls.status();
  client::ClientOptions client_options;
  client_options.tls = *std::move(tls);
  client_options.watch_policy = false;
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

Tint TintOf(client::Outcome outcome) {
  return outcome == client::Outcome::kAllowed ? Tint::kGreen : Tint::kRed;
}

}  // namespace

std::string DecisionText(const client::Decision& decision, Palette palette) {
  std::string text = absl::StrCat(Tinted(client::OutcomeName(decision.outcome),
                                         TintOf(decision.outcome), palette),
                                  " by ", client::SourceName(decision.source));
  if (decision.outcome == client::Outcome::kRefused) {
    absl::StrAppend(&text, ", try again in ",
                    absl::FormatDuration(decision.retry_after));
  } else if (decision.outcome == client::Outcome::kImpossible) {
    absl::StrAppend(&text, ", waiting will not help");
  } else if (decision.delay > absl::ZeroDuration()) {
    absl::StrAppend(&text, ", but go ahead only in ",
                    absl::FormatDuration(decision.delay));
  }
  if (decision.statuses.empty()) {
    return absl::StrCat(text, ": no rule applies\n");
  }
  absl::StrAppend(&text, "\n",
                  StatusTable(client::ToMessage(decision).statuses(), palette));
  if (!decision.ticket.empty()) {
    absl::StrAppend(&text,
                    "It holds slots until they expire; --json has the ticket "
                    "to release them.\n");
  }
  return text;
}

std::string DecisionJson(const client::Decision& decision) {
  std::string json = MessageJson(client::ToMessage(decision));
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

int RunCheck(const CheckOptions& options, const Output& output) {
  const absl::StatusOr<client::Decision> decision = Ask(options);
  if (!decision.ok()) {
    output.err << "tollgate check: " << decision.status().message() << "\n";
    return kExitError;
  }
  const bool answered = decision->source == client::Source::kService;
  if (options.json) {
    output.out << DecisionJson(*decision) << "\n";
  } else if (answered) {
    output.out << DecisionText(*decision, output.palette);
  }
  if (!answered) {
    Complain(options, *decision, output.err);
    return kExitError;
  }
  return decision->allowed ? kExitOk : kExitNo;
}

}  // namespace tollgate::cli
