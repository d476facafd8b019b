#ifndef TOLLGATE_CLIENT_CLI_RULES_H_
#define TOLLGATE_CLIENT_CLI_RULES_H_

#include <string>

#include "client/cli/admin_calls.h"
#include "client/cli/output.h"
#include "server/rules/rule_file.h"
#include "tollgate/v1/admin.pb.h"

namespace tollgate::cli {

struct RulesOptions {
  std::string rules;   // a path; empty: ask the server
  std::string domain;  // empty: all
  ServerOptions server;
  LoadOptions load;  // how Envoy-format files are read
  bool json = false;
};

// Prints the rules in force at a server, or those that files would put in
// force. Exit status 0, or 2 if there are none to be had.
int RunRules(const RulesOptions& options, const Output& output);

// For people: a table for each domain.
[[nodiscard]] std::string RulesText(const v1::GetRulesResponse& response,
                                    Palette palette);

}  // namespace tollgate::cli

#endif  // TOLLGATE_CLIENT_CLI_RULES_H_
