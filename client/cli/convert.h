#ifndef TOLLGATE_CLIENT_CLI_CONVERT_H_
#define TOLLGATE_CLIENT_CLI_CONVERT_H_

#include <string>
#include <vector>

#include "client/cli/output.h"
#include "server/rules/rule_file.h"

namespace tollgate::cli {

struct ConvertOptions {
  std::vector<std::string> paths;  // Envoy-format files, or directories of them
  std::string domain;              // empty: the only one there is
  LoadOptions load;                // how they are read
};

// Prints one domain of Envoy-format files as a native rule file. Exit status 0,
// or 2 if a file has a mistake or it is not clear which domain.
int RunConvert(const ConvertOptions& options, const Output& output);

}  // namespace tollgate::cli

#endif  // TOLLGATE_CLIENT_CLI_CONVERT_H_
