#ifndef TOLLGATE_CLIENT_CLI_VALIDATE_H_
#define TOLLGATE_CLIENT_CLI_VALIDATE_H_

#include <string>
#include <vector>

#include "client/cli/output.h"
#include "server/rules/rule_file.h"

namespace tollgate::cli {

struct ValidateOptions {
  std::vector<std::string> paths;  // rule files, or directories of them
  LoadOptions load;                // how Envoy-format files are read
  bool json = false;
};

// Reads each path as the server would, and prints every mistake, or what there
// is. Exit status 0 if all are valid, 1 if one has a mistake, 2 if one does not
// exist.
int RunValidate(const ValidateOptions& options, const Output& output);

}  // namespace tollgate::cli

#endif  // TOLLGATE_CLIENT_CLI_VALIDATE_H_
