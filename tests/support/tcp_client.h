#ifndef TOLLGATE_TESTS_SUPPORT_TCP_CLIENT_H_
#define TOLLGATE_TESTS_SUPPORT_TCP_CLIENT_H_

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdint>
#include <string>

namespace tollgate {

// A socket connected to a port of this machine, or -1. Reading from it gives
// up after 20 s.
inline int ConnectTo(int port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const timeval patience{20, 0};
  ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) ==
      0) {
    return fd;
  }
  ::close(fd);
  return -1;
}

// Sends `bytes` and returns all that comes back until the peer closes.
inline std::string Exchange(int port, const std::string& bytes) {
  const int fd = ConnectTo(port);
  if (fd < 0) return "";
  (void)::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  std::string answer;
  char buffer[4096];
  ssize_t n = 0;
  while ((n = ::recv(fd, buffer, sizeof(buffer), 0)) > 0) {
    answer.append(buffer, static_cast<size_t>(n));
  }
  ::close(fd);
  return answer;
}

// The whole answer, head and body, to an HTTP request.
inline std::string AskHttp(int port, const std::string& method,
                           const std::string& path,
                           const std::string& body = "") {
  return Exchange(port, method + " " + path +
                            " HTTP/1.1\r\nHost: localhost\r\n"
                            "Connection: close\r\nContent-Length: " +
                            std::to_string(body.size()) + "\r\n\r\n" + body);
}

}  // namespace tollgate

#endif  // TOLLGATE_TESTS_SUPPORT_TCP_CLIENT_H_
