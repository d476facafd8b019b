#ifndef TOLLGATE_CLIENT_CLI_SCREEN_H_
#define TOLLGATE_CLIENT_CLI_SCREEN_H_

#include <signal.h>  // NOLINT(modernize-deprecated-headers): POSIX signals

#include <cstddef>
#include <ostream>
#include <string>

#include "absl/time/time.h"

namespace tollgate::cli {

// A terminal on which one view is drawn again and again. While it lives, the
// cursor is hidden and long lines are cut, not wrapped, and the signals that
// end a program wait for Wait(); all of that is put back at its end, and the
// last view stays. Make it before other threads, one at a time.
// Thread-compatible.
class Screen {
 public:
  // `fd` is the terminal that `out`, which must outlive this, writes to.
  Screen(int fd, std::ostream& out);
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  // Replaces what is shown by `text`, at most Lines() lines.
  void Draw(const std::string& text);

  // How many lines there is room for, 1 or more; 23 if the terminal does not
  // say.
  [[nodiscard]] size_t Lines() const;

  // Waits, but no longer than until the terminal changes its size or is ours
  // again after a stop. False if a signal says that the program shall end.
  bool Wait(absl::Duration duration);

 private:
  void Enter();
  void Leave();

  const int fd_;
  std::ostream& out_;
  sigset_t signals_{};
  sigset_t before_{};
};

}  // namespace tollgate::cli

#endif  // TOLLGATE_CLIENT_CLI_SCREEN_H_
