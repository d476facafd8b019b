#ifndef TOLLGATE_CLIENT_CLI_CLI_H_
#define TOLLGATE_CLIENT_CLI_CLI_H_

#include <string>
#include <vector>

#include "client/cli/output.h"

namespace tollgate::cli {

// What every command ends with.
inline constexpr int kExitOk = 0;     // allowed, valid, done
inline constexpr int kExitNo = 1;     // refused, or a rule file has mistakes
inline constexpr int kExitError = 2;  // no answer: wrong use, unreachable, ...

// Runs one `tollgate` command: `args` are those after the program's name.
// Returns the exit status. Throws nothing.
int RunCli(const std::vector<std::string>& args, const Output& output);

}  // namespace tollgate::cli

#endif  // TOLLGATE_CLIENT_CLI_CLI_H_
