// A service whose name leads elsewhere after a while: the client asks a name
// server of the test's own.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/client.h"
#include "gtest/gtest.h"
#include "tests/client/test_service.h"

namespace tollgate::client {
namespace {

// Answers every question for an IPv4 address with the same one, and every other
// question with nothing (RFC 1035, 4.1).
class NameServer {
 public:
  explicit NameServer(const std::string& address)
      : socket_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    Say(address);
    sockaddr_in own{};
    own.sin_family = AF_INET;
    own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(own);
    auto* generic = reinterpret_cast<sockaddr*>(&own);
    EXPECT_EQ(::bind(socket_, generic, size), 0);
    EXPECT_EQ(::getsockname(socket_, generic, &size), 0);
    port_ = ntohs(own.sin_port);
    thread_ = std::thread([this] { Serve(); });
  }
  ~NameServer() {
    ::shutdown(socket_, SHUT_RDWR);  // wakes the thread
    thread_.join();
    ::close(socket_);
  }
  NameServer(const NameServer&) = delete;
  NameServer& operator=(const NameServer&) = delete;

  void Say(const std::string& address) {
    in_addr parsed{};
    ASSERT_EQ(::inet_pton(AF_INET, address.c_str(), &parsed), 1);
    address_ = parsed.s_addr;
  }
  [[nodiscard]] int port() const { return port_; }

 private:
  void Serve() {
    std::array<char, 512> question{};
    while (true) {
      sockaddr_in from{};
      socklen_t size = sizeof(from);
      auto* generic = reinterpret_cast<sockaddr*>(&from);
      const ssize_t bytes = ::recvfrom(socket_, question.data(),
                                       question.size(), 0, generic, &size);
      if (bytes <= 0) return;
      const std::string answer =
          Answer({question.data(), static_cast<size_t>(bytes)});
      ::sendto(socket_, answer.data(), answer.size(), 0, generic, size);
    }
  }

  // One question, as resolvers ask: header, name, type, class.
  std::string Answer(absl::string_view question) const {
    constexpr size_t kHeader = 12;
    const size_t name_end = question.find('\0', kHeader);
    if (name_end == absl::string_view::npos || name_end + 5 > question.size()) {
      return "";
    }
    const absl::string_view asked =
        question.substr(kHeader, name_end + 5 - kHeader);
    const bool is_a = question[name_end + 2] == 1;
    std::string answer(question.substr(0, 2));
    answer += {'\x81', '\x80', 0, 1, 0, static_cast<char>(is_a), 0, 0, 0, 0};
    absl::StrAppend(&answer, asked);
    if (is_a) {
      const uint32_t address = address_;
      // The name of the question; A, IN, to be kept for 0 s, 4 bytes.
      answer += {'\xC0', '\x0C', 0, 1, 0, 1, 0, 0, 0, 0, 0, 4};
      answer.append(reinterpret_cast<const char*>(&address), sizeof(address));
    }
    return answer;
  }

  const int socket_;
  int port_ = 0;
  std::atomic<uint32_t> address_{0};  // in network order
  std::thread thread_;
};

bool ServiceAnswersWithin(Client& client, absl::Duration limit) {
  const absl::Time end = absl::Now() + limit;
  while (absl::Now() < end) {
    if (client.ShouldAllow({"shop", {{{"user", "ana"}}}}).source ==
        Source::kService) {
      return true;
    }
    std::this_thread::yield();
  }
  return false;
}

TEST(Client, FollowsANameWhoseAddressChanges) {
  TestService before;
  TestService after;
  auto first = before.Listen(0, "127.0.0.1");
  ASSERT_NE(first, nullptr);
  const auto second = after.Listen(before.port(), "127.0.0.2");
  ASSERT_NE(second, nullptr);
  NameServer names("127.0.0.1");

  ClientOptions options;
  options.target = absl::StrCat("dns://127.0.0.1:", names.port(),
                                "/limiter.test:", before.port());
  const auto client = *Client::Create(options);
  ASSERT_TRUE(ServiceAnswersWithin(*client, absl::Seconds(10)));
  EXPECT_EQ(after.calls(), 0);

  names.Say("127.0.0.2");
  first->Shutdown(absl::ToChronoTime(absl::Now()));
  first->Wait();
  first = nullptr;
  // Two seconds, and what a machine with other work may take beyond them.
  EXPECT_TRUE(ServiceAnswersWithin(*client, absl::Seconds(3)));
  EXPECT_GT(after.calls(), 0);
}

}  // namespace
}  // namespace tollgate::client
