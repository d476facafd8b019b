// A real server and the real command: who abuses a rule is seen at the top.
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/process.h"
#include "tests/support/tcp_client.h"
#include "tests/support/temp_files.h"

namespace tollgate {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kRules[] =
    "domain: shop\n"
    "rules:\n"
    "  - {name: per-user, key: [user], limit: 1/day}\n";

class Shop {
 public:
  explicit Shop(const std::string& flag)
      : server_(TOLLGATE_SERVER_BINARY,
                {"--rules=" + files_.Write("rules.yaml", kRules),
                 "--listen=127.0.0.1:0", "--http-listen=127.0.0.1:0",
                 "--port-file=" + files_.Path("ports"), flag}) {
    EXPECT_TRUE(server_.WaitForLine("ready")) << server_.log();
    const std::string ports = files_.Read("ports");
    target_ = "--server=127.0.0.1:" + std::to_string(PortFrom(ports, "grpc"));
    http_port_ = PortFrom(ports, "http");
  }

  // Runs `tollgate` and returns its exit status; what it prints is in `text`.
  int Run(std::vector<std::string> args, std::string* text = nullptr) const {
    args.push_back(target_);
    args.emplace_back("--timeout=20s");
    Process command(TOLLGATE_BINARY, args);
    const int status = command.ExitStatus();
    if (text != nullptr) *text = command.log();
    return status;
  }
  void Check(const std::string& user, int times) const {
    for (int i = 0; i < times; ++i) {
      EXPECT_NE(Run({"check", "--domain=shop", "user=" + user}), 2);
    }
  }
  [[nodiscard]] const std::string& target() const { return target_; }
  [[nodiscard]] int http_port() const { return http_port_; }
  Process& server() { return server_; }

 private:
  TempFiles files_;
  Process server_;
  std::string target_;
  int http_port_ = 0;
};

TEST(Top, ShowsTheAbuserFirstAndNoMetricHasAKey) {
  const Shop shop("--top-refused=on");
  shop.Check("bob", 2);
  shop.Check("abuser", 4);
  std::string text;
  ASSERT_EQ(shop.Run({"top", "--rule=per-user"}, &text), 0) << text;
  EXPECT_THAT(text, HasSubstr("shop per-user: 4 refused since "));
  EXPECT_LT(text.find("user=abuser"), text.find("user=bob")) << text;
  EXPECT_THAT(text, AllOf(HasSubstr("75.0%"), HasSubstr("user=bob")));
  EXPECT_THAT(AskHttp(shop.http_port(), "GET", "/metrics"),
              AllOf(HasSubstr("outcome=\"refused\"} 4\n"),
                    Not(HasSubstr("abuser")), Not(HasSubstr("bob"))));
}

TEST(Top, ShowsNoKeyWhereTheServerKeepsHashes) {
  const Shop shop("--top-refused=hashed");
  shop.Check("abuser", 3);
  std::string text;
  ASSERT_EQ(shop.Run({"top", "--json"}, &text), 0) << text;
  EXPECT_THAT(text,
              AllOf(HasSubstr("\"count\":\"2\""), HasSubstr("\"key\":\"#"),
                    HasSubstr("\"hashed\":true"), Not(HasSubstr("abuser"))));
}

TEST(Top, SaysWhichFlagTurnedItOff) {
  const Shop shop("--top-refused=off");
  shop.Check("abuser", 2);
  std::string text;
  EXPECT_EQ(shop.Run({"top"}, &text), 2);
  EXPECT_THAT(text,
              AllOf(HasSubstr("--top-refused=off"), Not(HasSubstr("abuser"))));
}

// `tollgate top` on a terminal of 10 lines.
class Terminal {
 public:
  explicit Terminal(const std::string& target) {
    winsize size{};
    size.ws_row = 10;
    size.ws_col = 80;
    pid_ = ::forkpty(&fd_, nullptr, nullptr, &size);
    if (pid_ == 0) {
      ::setenv("TERM", "xterm", 1);
      ::execl(TOLLGATE_BINARY, TOLLGATE_BINARY, "top", "--interval=100ms",
              "--timeout=20s", target.c_str(), nullptr);
      ::_exit(127);
    }
  }
  ~Terminal() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ExitStatus();
    }
    ::close(fd_);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  // Reads what is shown until `text` is, or it ends.
  bool Shows(const std::string& text) {
    shown_.clear();
    std::array<char, 4096> part{};
    while (shown_.find(text) == std::string::npos) {
      const ssize_t got = ::read(fd_, part.data(), part.size());
      if (got <= 0) return false;
      shown_.append(part.data(), static_cast<size_t>(got));
    }
    return true;
  }
  void Type(char key) const { EXPECT_EQ(::write(fd_, &key, 1), 1); }
  void Signal(int signal) const { ::kill(pid_, signal); }
  int ExitStatus() {
    Shows("\x01");  // nothing shows it: until the end
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  [[nodiscard]] const std::string& shown() const { return shown_; }

 private:
  pid_t pid_ = -1;
  int fd_ = -1;
  std::string shown_;
};

TEST(TopOnATerminal, RefreshesThroughAnOutageAndEndsWithTheCursorBack) {
  Shop shop("--top-refused=on");
  Terminal terminal(shop.target());
  ASSERT_TRUE(terminal.Shows("nobody has been refused lately"));
  EXPECT_THAT(terminal.shown(), HasSubstr("\033[?25l"));
  for (int i = 0; i < 9; ++i) shop.Check("abuser" + std::to_string(i), 2);
  ASSERT_TRUE(terminal.Shows("more lines: a taller terminal"));
  EXPECT_THAT(terminal.shown(), HasSubstr("user=abuser"));
  shop.server().Signal(SIGKILL);
  ASSERT_TRUE(terminal.Shows("unreachable since"));
  terminal.Type('\x03');  // Ctrl-C
  EXPECT_EQ(terminal.ExitStatus(), 0);
  EXPECT_THAT(terminal.shown(), HasSubstr("\033[?7h\033[?25h"));
}

TEST(TopOnATerminal, EndsOnSigtermToo) {
  const Shop shop("--top-refused=on");
  Terminal terminal(shop.target());
  ASSERT_TRUE(terminal.Shows("nobody has been refused lately"));
  terminal.Signal(SIGTERM);
  EXPECT_EQ(terminal.ExitStatus(), 0);
  EXPECT_THAT(terminal.shown(), HasSubstr("\033[?7h\033[?25h"));
}

}  // namespace
}  // namespace tollgate
