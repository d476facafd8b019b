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
  const bool is_terminal = ::isatty(STDOUT_FILENO) == 1;
  const char* const term = std::getenv("TERM");
  // A terminal that has colours obeys the codes that move its cursor, too.
  const bool is_screen = ChoosePalette(is_terminal, nullptr, term) ==
                         tollgate::cli::Palette::kColored;
  return tollgate::cli::RunCli(
      std::vector<std::string>(argv + 1, argv + argc),
      {std::cout, std::cerr,
       ChoosePalette(is_terminal, std::getenv("NO_COLOR"), term),
       is_screen ? STDOUT_FILENO : -1});
}
