#include "client/cli/screen.h"

#include <sys/ioctl.h>

#include "absl/strings/str_replace.h"

namespace tollgate::cli {

Screen::Screen(int fd, std::ostream& out) : fd_(fd), out_(out) {
  sigemptyset(&signals_);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGTSTP, SIGWINCH}) {
    sigaddset(&signals_, signal);
  }
  // The threads that are started from now on inherit it, so that a signal
  // finds only the one that waits.
  pthread_sigmask(SIG_BLOCK, &signals_, &before_);
  Enter();
}

Screen::~Screen() {
  Leave();
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

// Hides the cursor, stops wrapping, clears.
void Screen::Enter() { out_ << "\033[?25l\033[?7l\033[2J" << std::flush; }

// The cursor is below the view already.
void Screen::Leave() { out_ << "\033[?7h\033[?25h" << std::flush; }

void Screen::Draw(const std::string& text) {
  // Each line clears what it does not cover, which flickers less than clearing
  // the screen first.
  out_ << "\033[H" << absl::StrReplaceAll(text, {{"\n", "\033[K\n"}})
       << "\033[J" << std::flush;
}

size_t Screen::Lines() const {
  winsize size{};
  if (ioctl(fd_, TIOCGWINSZ, &size) != 0 || size.ws_row == 0) return 23;
  // The cursor takes the last one.
  return size.ws_row == 1 ? 1 : size.ws_row - 1U;
}

bool Screen::Wait(absl::Duration duration) {
  const timespec timeout = absl::ToTimespec(duration);
  const int signal = sigtimedwait(&signals_, nullptr, &timeout);
  if (signal == SIGTSTP) {
    Leave();
    raise(SIGSTOP);
    Enter();
    return true;
  }
  return signal < 0 || signal == SIGWINCH;
}

}  // namespace tollgate::cli
