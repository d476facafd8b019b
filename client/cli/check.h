#ifndef TOLLGATE_CLIENT_CLI_CHECK_H_
#define TOLLGATE_CLIENT_CLI_CHECK_H_

#include <string>

#include "client/cli/entries.h"
#include "client/cli/output.h"
#include "client/cli/tls_flags.h"
#include "client/decision.h"

namespace tollgate::cli {

struct CheckOptions {
  RequestOptions request;
  std::string server;
  std::string timeout;  // a duration
  TlsFlags tls;
  bool json = false;
};

// Asks the service for one decision, as an application would, and prints it.
// Exit status 0 allowed, 1 refused or impossible, 2 if the service gave none.
int RunCheck(const CheckOptions& options, const Output& output);

// The decision for people: a line, and a table of the rules if any applied.
std::string DecisionText(const client::Decision& decision, Palette palette);

// The service's response as proto3 JSON on one line, with "source" and, where
// the service did not decide, "error".
std::string DecisionJson(const client::Decision& decision);

}  // namespace tollgate::cli

#endif  // TOLLGATE_CLIENT_CLI_CHECK_H_
