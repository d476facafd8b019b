#include "server/net/listener.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/base/mutex.h"
#include "tests/support/status_matchers.h"
#include "tests/support/tcp_client.h"

namespace tollgate::net {
namespace {

using ::testing::HasSubstr;

// Waits for what another thread does; 30 s at most.
template <typename Condition>
bool Eventually(const Condition& condition) {
  for (int i = 0; i < 3000; ++i) {
    if (condition()) return true;
    ::poll(nullptr, 0, 10);
  }
  return condition();
}

class Counts final : public ConnectionObserver {
 public:
  void OnConnections(int change) override { open += change; }
  void OnRefused(RefuseReason reason) override {
    ++refused[static_cast<size_t>(reason)];
  }
  void OnKilled(KillReason reason, const std::string&) override {
    ++killed[static_cast<size_t>(reason)];
  }
  [[nodiscard]] int Refused(RefuseReason reason) const {
    return refused[static_cast<size_t>(reason)];
  }
  [[nodiscard]] int Killed(KillReason reason) const {
    return killed[static_cast<size_t>(reason)];
  }

  std::atomic<int> open{0};
  std::array<std::atomic<int>, 4> refused{};
  std::array<std::atomic<int>, 2> killed{};
};

// A listener, and the connections that it handed out.
struct Listening {
  SteadyClock clock;
  FakeClock fake{0};
  PeerLedger ledger{1};
  Counts counts;
  Mutex mutex;
  std::vector<int> taken ABSL_GUARDED_BY(mutex);
  std::unique_ptr<Listener> listener;

  enum class Time { kReal, kFake };

  explicit Listening(ListenerOptions options = {}, Time time = Time::kReal) {
    if (options.listen.empty()) options.listen = "127.0.0.1:0";
    const Clock* judging = &clock;
    if (time == Time::kFake) judging = &fake;
    auto made = MakeListener(options, ledger, *judging, counts);
    EXPECT_THAT(made.status(), IsOk());
    listener = *std::move(made);
    listener->Start([this](int fd) {
      MutexLock lock(mutex);
      taken.push_back(fd);
    });
  }
  ~Listening() {
    listener.reset();
    CloseTaken();
  }
  void CloseTaken() {
    MutexLock lock(mutex);
    for (const int fd : taken) ::close(fd);
    taken.clear();
  }
  [[nodiscard]] size_t Taken() {
    MutexLock lock(mutex);
    return taken.size();
  }
  [[nodiscard]] int Last() {
    MutexLock lock(mutex);
    return taken.back();
  }
  [[nodiscard]] int Connect() const { return ConnectTo(listener->port()); }
};

// Whether the other side has ended the connection, once it does.
bool IsCut(int fd) {
  char byte = 0;
  return ::recv(fd, &byte, 1, 0) <= 0;
}

TEST(Listener, HandsOutConnectionsAndCountsThem) {
  Listening local;
  const int one = local.Connect();
  const int two = local.Connect();
  EXPECT_TRUE(Eventually([&] { return local.Taken() == 2; }));
  EXPECT_EQ(local.counts.open, 2);
  EXPECT_EQ(::send(one, "x", 1, 0), 1);
  ::close(one);
  EXPECT_TRUE(Eventually([&] { return local.counts.open == 1; }));
  ::close(two);
  EXPECT_TRUE(Eventually([&] { return local.counts.open == 0; }));
}

TEST(Listener, HandsOutSocketsThatNeverBlockAndHaveNoDelay) {
  Listening local;
  const int fd = local.Connect();
  ASSERT_TRUE(Eventually([&] { return local.Taken() == 1; }));
  EXPECT_NE(::fcntl(local.Last(), F_GETFL) & O_NONBLOCK, 0);
  EXPECT_NE(::fcntl(local.Last(), F_GETFD) & FD_CLOEXEC, 0);
  constexpr int kTcpNoDelay = 1;
  int on = 0;
  socklen_t size = sizeof(on);
  ::getsockopt(local.Last(), IPPROTO_TCP, kTcpNoDelay, &on, &size);
  EXPECT_NE(on, 0);
  ::close(fd);
}

TEST(Listener, ForgetsAConnectionThatItsTakerShutsDown) {
  Listening local;
  const int fd = local.Connect();
  ASSERT_TRUE(Eventually([&] { return local.Taken() == 1; }));
  ::shutdown(local.Last(), SHUT_RDWR);  // as gRPC does before it closes
  local.CloseTaken();
  EXPECT_TRUE(IsCut(fd));
  EXPECT_TRUE(Eventually([&] { return local.counts.open == 0; }));
  ::close(fd);
}

TEST(Listener, ResetsConnectionsAboveTheTotalUntilThereIsRoom) {
  Listening local({.max_connections = 2});
  const int one = local.Connect();
  const int two = local.Connect();
  const int three = local.Connect();
  EXPECT_TRUE(IsCut(three));
  EXPECT_EQ(local.counts.Refused(RefuseReason::kTotal), 1);
  EXPECT_EQ(local.Taken(), 2U);
  ::close(one);
  EXPECT_TRUE(Eventually([&] { return local.counts.open == 1; }));
  const int four = local.Connect();
  EXPECT_TRUE(Eventually([&] { return local.Taken() == 3; }));
  for (const int fd : {two, three, four}) ::close(fd);
}

TEST(Listener, ResetsConnectionsOfAnAddressThatHasEnough) {
  Listening local({.max_connections_per_address = 1});
  const int one = local.Connect();
  EXPECT_TRUE(IsCut(local.Connect()));
  EXPECT_EQ(local.counts.Refused(RefuseReason::kAddress), 1);
  // Another address of this machine.
  const int other = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in from{};
  from.sin_family = AF_INET;
  from.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1);
  ASSERT_EQ(::bind(other, reinterpret_cast<sockaddr*>(&from), sizeof(from)), 0);
  sockaddr_in to = from;
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  to.sin_port = htons(static_cast<uint16_t>(local.listener->port()));
  ASSERT_EQ(::connect(other, reinterpret_cast<sockaddr*>(&to), sizeof(to)), 0);
  EXPECT_TRUE(Eventually([&] { return local.Taken() == 2; }));
  ::close(one);
  ::close(other);
}

TEST(Listener, GoesOnAfterDescriptorsRanOut) {
  Listening local;
  const int before = local.Connect();
  ASSERT_TRUE(Eventually([&] { return local.Taken() == 1; }));
  rlimit normal{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &normal), 0);
  // The client's half exists already; nobody gets another descriptor.
  const int client = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const timeval patience{20, 0};
  ::setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  to.sin_port = htons(static_cast<uint16_t>(local.listener->port()));
  rlimit none = normal;
  none.rlim_cur = 3;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  EXPECT_EQ(::connect(client, reinterpret_cast<sockaddr*>(&to), sizeof(to)), 0);
  // With none below the limit to close, it cannot even refuse.
  ::poll(nullptr, 0, 50);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &normal), 0);
  EXPECT_TRUE(Eventually([&] {
    return local.Taken() == 2 ||
           local.counts.Refused(RefuseReason::kDescriptors) == 1;
  }));
  const int after = local.Connect();
  EXPECT_TRUE(Eventually([&] { return local.counts.open >= 2; }));
  for (const int fd : {before, client, after}) ::close(fd);
}

TEST(Listener, RefusesWithItsSpareWhileDescriptorsAreOut) {
  Listening local;
  const int client = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  rlimit normal{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &normal), 0);
  rlimit few = normal;
  few.rlim_cur = 64;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  std::vector<int> used;
  for (int fd = ::dup(0); fd >= 0; fd = ::dup(0)) used.push_back(fd);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  to.sin_port = htons(static_cast<uint16_t>(local.listener->port()));
  EXPECT_EQ(::connect(client, reinterpret_cast<sockaddr*>(&to), sizeof(to)), 0);
  EXPECT_TRUE(IsCut(client));
  EXPECT_EQ(local.counts.Refused(RefuseReason::kDescriptors), 1);
  for (const int fd : used) ::close(fd);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &normal), 0);
  const int after = local.Connect();
  EXPECT_TRUE(Eventually([&] { return local.Taken() >= 1; }));
  ::close(client);
  ::close(after);
}

TEST(Listener, ListensOnIpv6AndOnNames) {
  Listening v6({.listen = "[::1]:0"});
  const int fd = ::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in6 to{};
  to.sin6_family = AF_INET6;
  to.sin6_addr = in6addr_loopback;
  to.sin6_port = htons(static_cast<uint16_t>(v6.listener->port()));
  EXPECT_EQ(::connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof(to)), 0);
  EXPECT_TRUE(Eventually([&] { return v6.Taken() == 1; }));
  ::close(fd);
  const Listening name({.listen = "localhost:0"});
  EXPECT_GT(name.listener->port(), 0);
}

TEST(Listener, NamesTheAddressThatItCannotListenOn) {
  Listening local;
  Counts counts;
  const std::string taken =
      "127.0.0.1:" + std::to_string(local.listener->port());
  EXPECT_THAT(
      MakeListener({.listen = taken}, local.ledger, local.clock, counts)
          .status(),
      StatusIs(absl::StatusCode::kUnavailable,
               HasSubstr("cannot listen for gRPC on \"" + taken + "\"")));
}

TEST(Listener, ClosesThePortAndStillWatchesWhatIsOpen) {
  Listening local;
  const int fd = local.Connect();
  ASSERT_TRUE(Eventually([&] { return local.Taken() == 1; }));
  EXPECT_TRUE(local.listener->Accepts(absl::Seconds(20)));
  local.listener->StopAccepting();
  local.listener->StopAccepting();
  EXPECT_EQ(local.Connect(), -1);
  EXPECT_FALSE(local.listener->Accepts(absl::Milliseconds(100)));
  EXPECT_EQ(local.counts.open, 1);
  ::close(fd);
  EXPECT_TRUE(Eventually([&] { return local.counts.open == 0; }));
}

TEST(Listener, AcceptsItsOwnConnectionsWithoutHandingThemOut) {
  Listening any({.listen = "0.0.0.0:0"});
  EXPECT_TRUE(any.listener->Accepts(absl::Seconds(20)));
  Listening both({.listen = "[::]:0"});
  EXPECT_TRUE(both.listener->Accepts(absl::Seconds(20)));
  EXPECT_EQ(any.Taken() + both.Taken(), 0U);
  EXPECT_EQ(any.counts.open + both.counts.open, 0);
}

// Sends `bytes` bytes on `fd`, which somebody reads at the other end. Whether
// they could all be sent.
bool Pour(int fd, int reader, size_t bytes) {
  std::array<char, 16384> block{};
  for (size_t sent = 0; sent < bytes;) {
    const ssize_t n = ::send(fd, block.data(), block.size(), MSG_NOSIGNAL);
    if (n <= 0) return false;
    sent += static_cast<size_t>(n);
    while (::recv(reader, block.data(), block.size(), MSG_DONTWAIT) > 0) {
    }
  }
  return true;
}

TEST(Listener, CutsAFloodThatNoCallAccountsFor) {
  Listening local({.guard = {.unaccounted_bytes = 100'000}});
  const int quiet = local.Connect();
  ASSERT_TRUE(Eventually([&] { return local.Taken() == 1; }));
  EXPECT_TRUE(Pour(quiet, local.Last(), 90'000));
  const int fd = local.Connect();
  ASSERT_TRUE(Eventually([&] { return local.Taken() == 2; }));
  EXPECT_TRUE(Eventually([&] { return !Pour(fd, local.Last(), 200'000); }));
  EXPECT_TRUE(Eventually([&] {
    return local.counts.Killed(KillReason::kFlood) == 1 &&
           local.counts.open == 1;
  }));
  ::close(fd);
  ::close(quiet);
}

TEST(Listener, RefusesTheAddressOfAFloodForAWhile) {
  Listening local(
      {.guard = {.unaccounted_bytes = 100'000, .flood_block = absl::Hours(1)}},
      Listening::Time::kFake);
  const int fd = local.Connect();
  ASSERT_TRUE(Eventually([&] { return local.Taken() == 1; }));
  EXPECT_TRUE(Eventually([&] {
    local.fake.Advance(1'000'000'000);
    return !Pour(fd, local.Last(), 200'000);
  }));
  const int refused = local.Connect();
  EXPECT_TRUE(IsCut(refused));
  EXPECT_EQ(local.counts.Refused(RefuseReason::kFlood), 1);
  local.fake.Advance(3'600'000'000'000);
  const int next = local.Connect();
  EXPECT_TRUE(Eventually([&] { return local.Taken() == 2; }));
  for (const int each : {fd, refused, next}) ::close(each);
}

TEST(Listener, KeepsAConnectionWhoseCallsAccountForWhatItSends) {
  Listening local({.guard = {.unaccounted_bytes = 100'000}});
  const int fd = local.Connect();
  ASSERT_TRUE(Eventually([&] { return local.Taken() == 1; }));
  sockaddr_in from{};
  socklen_t size = sizeof(from);
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&from), &size);
  const std::string peer =
      "ipv4:127.0.0.1:" + std::to_string(ntohs(from.sin_port));
  for (int i = 0; i < 300; ++i) {
    ASSERT_TRUE(Pour(fd, local.Last(), 16384));
    local.ledger.page(0).Credit(peer, 16384);
    if (i % 10 == 0) ::poll(nullptr, 0, 5);
  }
  EXPECT_EQ(local.counts.Killed(KillReason::kFlood), 0);
  ::close(fd);
}

TEST(Listener, DoesNotBlameAPeerForWhatNobodyHasRead) {
  Listening local({.guard = {.unaccounted_bytes = 1000}});
  const int fd = local.Connect();
  ASSERT_TRUE(Eventually([&] { return local.Taken() == 1; }));
  const std::string bytes(50'000, 'x');
  EXPECT_EQ(::send(fd, bytes.data(), bytes.size(), 0), 50'000);
  ::poll(nullptr, 0, 200);
  EXPECT_EQ(local.counts.Killed(KillReason::kFlood), 0);
  std::string read(50'000, ' ');
  EXPECT_EQ(::recv(local.Last(), read.data(), read.size(), MSG_WAITALL),
            50'000);
  EXPECT_TRUE(IsCut(fd));
  EXPECT_TRUE(
      Eventually([&] { return local.counts.Killed(KillReason::kFlood) == 1; }));
  ::close(fd);
}

TEST(Listener, CutsWhoOwesLittleWhileItIsReadAndNobodysCallsBegin) {
  Listening local(
      {.guard = {.unaccounted_bytes = 100'000, .stalling_bytes = 1000}});
  const int quiet = local.Connect();
  const int fd = local.Connect();
  ASSERT_TRUE(Eventually([&] { return local.Taken() == 2; }));
  const std::string bytes(50'000, 'x');
  EXPECT_EQ(::send(fd, bytes.data(), bytes.size(), 0), 50'000);
  std::string read(1001, ' ');
  EXPECT_EQ(::recv(local.Last(), read.data(), read.size(), MSG_WAITALL), 1001);
  EXPECT_TRUE(IsCut(fd));
  EXPECT_TRUE(Eventually([&] {
    return local.counts.Killed(KillReason::kFlood) == 1 &&
           local.counts.open == 1;
  }));
  ::close(fd);
  ::close(quiet);
}

TEST(Listener, CutsAPeerThatDoesNotReadItsAnswers) {
  Listening local({.guard = {.slow_reader = absl::Seconds(1)}});
  const int fd = local.Connect();
  ASSERT_TRUE(Eventually([&] { return local.Taken() == 1; }));
  const std::string answer(1 << 20, 'x');
  while (::send(local.Last(), answer.data(), answer.size(), MSG_NOSIGNAL) > 0) {
  }
  EXPECT_TRUE(Eventually(
      [&] { return local.counts.Killed(KillReason::kSlowReader) == 1; }));
  EXPECT_TRUE(Eventually([&] { return local.counts.open == 0; }));
  ::close(fd);
}

}  // namespace
}  // namespace tollgate::net
