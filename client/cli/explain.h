#ifndef TOLLGATE_CLIENT_CLI_EXPLAIN_H_
#define TOLLGATE_CLIENT_CLI_EXPLAIN_H_

#include <string>

#include "absl/strings/string_view.h"
#include "client/cli/admin_calls.h"
#include "client/cli/entries.h"
#include "client/cli/output.h"
#include "server/rules/rule_file.h"
#include "tollgate/v1/admin.pb.h"

namespace tollgate::cli {

struct ExplainOptions {
  RequestOptions request;  // an empty domain: see RunExplain
  std::string rules;       // a path; empty: ask the server
  ServerOptions server;
  LoadOptions load;  // how Envoy-format files are read
  bool json = false;
};

// Prints which rules apply to a request and why the others do not. Without a
// domain, that of the files if they have one alone, or "default" at a server.
// Exit status 0, or 2 if there is nothing to explain with.
int RunExplain(ExplainOptions options, const Output& output);

// For people. `descriptors` is how many the request has.
[[nodiscard]] std::string ExplainText(absl::string_view domain,
                                      size_t descriptors,
                                      const v1::ExplainResponse& response,
                                      Palette palette);

}  // namespace tollgate::cli

#endif  // TOLLGATE_CLIENT_CLI_EXPLAIN_H_
