#ifndef TOLLGATE_TESTS_CLIENT_CLI_RUN_TOLLGATE_H_
#define TOLLGATE_TESTS_CLIENT_CLI_RUN_TOLLGATE_H_

#include <sstream>
#include <string>
#include <vector>

#include "client/cli/cli.h"

namespace tollgate::cli {

struct Ran {
  int exit_status = -1;
  std::string out;
  std::string err;
};

inline Ran RunTollgate(const std::vector<std::string>& args,
                       Palette palette = Palette::kPlain) {
  std::ostringstream out;
  std::ostringstream err;
  Ran ran;
  ran.exit_status = RunCli(args, {out, err, palette});
  ran.out = out.str();
  ran.err = err.str();
  return ran;
}

}  // namespace tollgate::cli

#endif  // TOLLGATE_TESTS_CLIENT_CLI_RUN_TOLLGATE_H_
