#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "client/cli/cli.h"

int main(int argc, char** argv) {
  // gRPC's packaged Abseil would look for lock cycles at every lock.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  using tollgate::cli::ChoosePalette;
  return tollgate::cli::RunCli(
      std::vector<std::string>(argv + 1, argv + argc),
      {std::cout, std::cerr,
       ChoosePalette(::isatty(STDOUT_FILENO) == 1, std::getenv("NO_COLOR"),
                     std::getenv("TERM"))});
}
