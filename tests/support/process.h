#ifndef TOLLGATE_TESTS_SUPPORT_PROCESS_H_
#define TOLLGATE_TESTS_SUPPORT_PROCESS_H_

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "gtest/gtest.h"

namespace tollgate {

// A program that runs beside the test, and what it prints; killed with the
// handle.
class Process {
 public:
  enum class Input { kOurs, kPipe };  // kPipe: open until EndInput

  Process(const std::string& program, std::vector<std::string> flags,
          Input input = Input::kOurs) {
    flags.insert(flags.begin(), program);
    std::vector<char*> argv;
    for (std::string& flag : flags) argv.push_back(flag.data());
    argv.push_back(nullptr);
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    // Ours to write are not for the programs that run beside this one.
    int input_ends[2] = {-1, -1};
    if (input == Input::kPipe) {
      EXPECT_EQ(::pipe2(input_ends, O_CLOEXEC), 0);
      input_ = input_ends[1];
    }
    pid_ = ::fork();
    if (pid_ == 0) {
      if (input == Input::kPipe) ::dup2(input_ends[0], STDIN_FILENO);
      ::dup2(ends[1], STDERR_FILENO);
      ::dup2(ends[1], STDOUT_FILENO);
      ::close(ends[0]);
      ::close(ends[1]);
      ::execv(argv[0], argv.data());
      ::_exit(127);
    }
    ::close(ends[1]);
    if (input == Input::kPipe) ::close(input_ends[0]);
    output_ = ::fdopen(ends[0], "r");
  }
  ~Process() {
    if (pid_ > 0) {
      Signal(SIGKILL);
      ExitStatus();
    }
    EndInput();
    std::fclose(output_);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // Reads the log up to the line that holds `text`; false if it ended first.
  bool WaitForLine(const std::string& text) {
    char line[4096];
    while (std::fgets(line, sizeof(line), output_) != nullptr) {
      log_ += line;
      if (std::string(line).find(text) != std::string::npos) return true;
    }
    return false;
  }
  void EndInput() {
    if (input_ >= 0) ::close(input_);
    input_ = -1;
  }
  void Signal(int signal) const { ::kill(pid_, signal); }
  // Waits until it ends; 128 + n if signal n ended it.
  int ExitStatus() {
    WaitForLine("\x01");  // the end of the log
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  [[nodiscard]] const std::string& log() const { return log_; }

 private:
  pid_t pid_ = -1;
  int input_ = -1;
  std::FILE* output_ = nullptr;
  std::string log_;
};

// The port that `text`, the text of a port file, says for `name`.
inline int PortFrom(const std::string& text, const std::string& name) {
  int port = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (absl::ConsumePrefix(&line, name + "=")) {
      EXPECT_TRUE(absl::SimpleAtoi(line, &port));
    }
  }
  return port;
}

}  // namespace tollgate

#endif  // TOLLGATE_TESTS_SUPPORT_PROCESS_H_
