#ifndef TOLLGATE_TESTS_SUPPORT_TCP_PROXY_H_
#define TOLLGATE_TESTS_SUPPORT_TCP_PROXY_H_

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <thread>
#include <utility>
#include <vector>

namespace tollgate {

// A loopback port that passes bytes on to another one, and can begin to swallow
// them: then connections are made and kept, and nothing comes out of them, as
// of a network that drops everything. Thread-safe.
class TcpProxy {
 public:
  explicit TcpProxy(int to_port) : to_port_(to_port) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = Loopback(0);
    socklen_t size = sizeof(address);
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    if (::bind(listener_, generic, size) == 0 && ::listen(listener_, 64) == 0 &&
        ::getsockname(listener_, generic, &size) == 0) {
      port_ = ntohs(address.sin_port);
    }
    thread_ = std::thread([this] { Run(); });
  }
  ~TcpProxy() {
    stop_.store(true);
    thread_.join();
    for (const Pair& pair : pairs_) Close(pair);
    ::close(listener_);
  }
  TcpProxy(const TcpProxy&) = delete;
  TcpProxy& operator=(const TcpProxy&) = delete;

  [[nodiscard]] int port() const { return port_; }

  // From now on every byte is lost.
  void Swallow() { swallow_.store(true); }
  // Passes on what comes over new connections; those that lost bytes are cut,
  // since nothing can mend them.
  void PassOn() { swallow_.store(false); }

 private:
  struct Pair {
    int client;
    int server;  // -1: none
    bool swallowed;
  };

  static sockaddr_in Loopback(int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<in_port_t>(port));
    return address;
  }
  static void Close(const Pair& pair) {
    ::close(pair.client);
    if (pair.server >= 0) ::close(pair.server);
  }

  void Accept() {
    Pair pair{::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC), -1,
              swallow_.load()};
    if (pair.client < 0) return;
    if (!pair.swallowed) {
      pair.server = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      const sockaddr_in address = Loopback(to_port_);
      if (::connect(pair.server, reinterpret_cast<const sockaddr*>(&address),
                    sizeof(address)) != 0) {
        return Close(pair);
      }
    }
    pairs_.push_back(pair);
  }

  // False once either side has ended.
  static bool Carry(int from, int to, bool swallow) {
    std::array<char, 65536> bytes;
    const ssize_t got = ::recv(from, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got <= 0) return false;
    if (swallow || to < 0) return true;
    for (ssize_t sent = 0; sent < got;) {
      const ssize_t n = ::send(to, bytes.data() + sent,
                               static_cast<size_t>(got - sent), MSG_NOSIGNAL);
      if (n <= 0) return false;
      sent += n;
    }
    return true;
  }

  // Moves what is there; false if the pair is to be cut.
  bool Serve(Pair& pair, const pollfd& client, const pollfd& server) {
    const bool swallow = swallow_.load();
    if (pair.swallowed && !swallow) return false;
    pair.swallowed = swallow;
    if (client.revents != 0 && !Carry(pair.client, pair.server, swallow)) {
      return false;
    }
    return server.revents == 0 || Carry(pair.server, pair.client, swallow);
  }

  void Run() {
    while (!stop_.load()) {
      std::vector<pollfd> fds;
      fds.push_back({listener_, POLLIN, 0});
      for (const Pair& pair : pairs_) {
        fds.push_back({pair.client, POLLIN, 0});
        fds.push_back({pair.server, POLLIN, 0});
      }
      ::poll(fds.data(), fds.size(), /*timeout ms=*/10);
      std::vector<Pair> kept;
      for (size_t i = 0; i < pairs_.size(); ++i) {
        Pair pair = pairs_[i];
        if (Serve(pair, fds[1 + 2 * i], fds[2 + 2 * i])) {
          kept.push_back(pair);
        } else {
          Close(pair);
        }
      }
      pairs_ = std::move(kept);
      if ((fds[0].revents & POLLIN) != 0) Accept();
    }
  }

  const int to_port_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<bool> swallow_{false};
  std::atomic<bool> stop_{false};
  std::vector<Pair> pairs_;  // of the thread, until it is joined
  std::thread thread_;
};

}  // namespace tollgate

#endif  // TOLLGATE_TESTS_SUPPORT_TCP_PROXY_H_
