#ifndef TOLLGATE_TESTS_SUPPORT_REDIS_PROCESS_H_
#define TOLLGATE_TESTS_SUPPORT_REDIS_PROCESS_H_

#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "gtest/gtest.h"
#include "tests/support/process.h"
#include "tests/support/temp_files.h"

namespace tollgate {

// Asks `holds` again and again, up to 30 s; whether it did hold.
template <typename Condition>
bool WaitUntil(Condition holds) {
  for (int i = 0; i < 3000; ++i) {
    if (holds()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

// A redis-server of this test's own on a loopback port, which keeps nothing on
// disk; killed with the handle, and with the thread that started it.
class RedisProcess {
 public:
  // Starts it with `flags` besides and waits until it answers.
  explicit RedisProcess(std::vector<std::string> flags = {})
      : flags_(std::move(flags)) {
    // Another process may take the port before it does.
    do {
      port_ = FreePort();
    } while (!Start() && IsPortTaken());
    EXPECT_TRUE(is_running_) << "redis-server does not start: " << log();
  }

  [[nodiscard]] int port() const { return port_; }
  [[nodiscard]] std::string url() const {
    return absl::StrCat("redis://127.0.0.1:", port_);
  }
  [[nodiscard]] std::string log() const { return files_.Read("log"); }

  void Signal(int signal) const { process_->Signal(signal); }
  void Pause() const { Signal(SIGSTOP); }
  void Continue() const { Signal(SIGCONT); }
  // As kill -9 does; waits until it is gone.
  void Kill() { process_.reset(); }
  // On the same port, after Kill, with nothing in it.
  void Restart() {
    ASSERT_TRUE(WaitUntil([this] { return Start(); }));
  }

  // What redis-cli prints for a command, without the last newline.
  std::string Cli(const std::string& command) const {
    const std::string line =
        absl::StrCat("redis-cli -p ", port_, " ", command, " 2>&1");
    std::FILE* pipe = ::popen(line.c_str(), "r");
    std::string out;
    char bytes[4096];
    while (pipe != nullptr && std::fgets(bytes, sizeof(bytes), pipe)) {
      out += bytes;
    }
    if (pipe != nullptr) ::pclose(pipe);
    while (!out.empty() && out.back() == '\n') out.pop_back();
    return out;
  }
  // The value of a field of INFO, CLUSTER INFO or the like; empty if it has
  // none.
  [[nodiscard]] std::string Field(const std::string& command,
                                  const std::string& field) const {
    for (absl::string_view line : absl::StrSplit(Cli(command), '\n')) {
      if (!absl::ConsumePrefix(&line, field + ":")) continue;
      return std::string(absl::StripAsciiWhitespace(line));
    }
    return "";
  }

 private:
  // Below the ports that the system gives to clients, together with that of a
  // cluster's bus, which is 10,000 above.
  static int FreePort() {
    std::random_device random;
    for (int i = 0; i < 1000; ++i) {
      const int port = 10'000 + static_cast<int>(random() % 12'000);
      if (IsFree(port) && IsFree(port + 10'000)) return port;
    }
    return 0;
  }
  static bool IsFree(int port) {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int on = 1;  // as Redis does
    ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<in_port_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const bool free =
        ::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
    ::close(fd);
    return free;
  }

  [[nodiscard]] bool IsPortTaken() const {
    return absl::StrContains(log(), "Failed listening");
  }

  // False if it does not come up.
  bool Start() {
    std::vector<std::string> argv = {"--pdeathsig",
                                     "KILL",
                                     "redis-server",
                                     "--port",
                                     absl::StrCat(port_),
                                     "--bind",
                                     "127.0.0.1",
                                     "--save",
                                     "",
                                     "--appendonly",
                                     "no",
                                     "--dir",
                                     files_.Path(""),
                                     "--logfile",
                                     files_.Path("log")};
    argv.insert(argv.end(), flags_.begin(), flags_.end());
    (void)files_.Write("log", "");
    process_ = std::make_unique<Process>("/usr/bin/setpriv", argv);
    is_running_ = false;
    return WaitUntil([this] {
             if (IsPortTaken()) return true;
             is_running_ = absl::StrContains(log(), "Ready to accept");
             return is_running_;
           }) &&
           is_running_;
  }

  const std::vector<std::string> flags_;
  const TempFiles files_;
  int port_ = 0;
  bool is_running_ = false;
  std::unique_ptr<Process> process_;
};

}  // namespace tollgate

#endif  // TOLLGATE_TESTS_SUPPORT_REDIS_PROCESS_H_
