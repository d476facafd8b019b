#include "client/cli/server_cpu.h"

#include <netdb.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <iterator>
#include <memory>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace tollgate::cli {
namespace {

constexpr size_t kMaxAnswerBytes = 64 << 20;

class Socket {
 public:
  explicit Socket(int fd) : fd_(fd) {}
  ~Socket() {
    if (fd_ >= 0) ::close(fd_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  [[nodiscard]] int fd() const { return fd_; }

 private:
  const int fd_;
};

using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

Addresses Resolve(const std::string& host, const std::string& port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(host.c_str(), port.c_str(), &hints, &found) != 0) {
    found = nullptr;
  }
  return {found, &::freeaddrinfo};
}

// What the server answers to one GET, headers and all; empty if it does not.
std::string Get(const addrinfo& address, const std::string& host_port) {
  const Socket socket(::socket(address.ai_family,
                               address.ai_socktype | SOCK_CLOEXEC,
                               address.ai_protocol));
  const timeval patience{.tv_sec = 2, .tv_usec = 0};
  for (const int option : {SO_RCVTIMEO, SO_SNDTIMEO}) {
    ::setsockopt(socket.fd(), SOL_SOCKET, option, &patience, sizeof(patience));
  }
  if (::connect(socket.fd(), address.ai_addr, address.ai_addrlen) != 0) {
    return "";
  }
  const std::string request =
      absl::StrCat("GET /metrics HTTP/1.0\r\nHost: ", host_port,
                   "\r\nConnection: close\r\n\r\n");
  if (::send(socket.fd(), request.data(), request.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(request.size())) {
    return "";
  }
  std::string answer;
  std::array<char, 16384> part{};
  for (;;) {
    const ssize_t got = ::recv(socket.fd(), part.data(), part.size(), 0);
    if (got <= 0 || answer.size() > kMaxAnswerBytes) return answer;
    answer.append(part.data(), static_cast<size_t>(got));
  }
}

}  // namespace

absl::StatusOr<absl::Duration> ParseProcStat(absl::string_view stat,
                                             int64_t ticks_per_second) {
  // The second field is the program's name, and may hold anything; the third
  // comes after the last ")". utime and stime are fields 14 and 15.
  const size_t name_end = stat.rfind(") ");
  std::vector<absl::string_view> fields;
  if (name_end != absl::string_view::npos) {
    fields = absl::StrSplit(stat.substr(name_end + 2), ' ');
  }
  int64_t user = 0;
  int64_t system = 0;
  if (fields.size() < 13 || !absl::SimpleAtoi(fields[11], &user) ||
      !absl::SimpleAtoi(fields[12], &system)) {
    return absl::UnknownError("not the format of /proc/PID/stat");
  }
  return absl::Seconds(user + system) / ticks_per_second;
}

absl::StatusOr<absl::Duration> ReadCpuOfProcess(int pid) {
  std::ifstream file(absl::StrCat("/proc/", pid, "/stat"));
  if (!file) {
    return absl::NotFoundError(absl::StrCat("no process has the id ", pid));
  }
  const std::string stat{std::istreambuf_iterator<char>(file), {}};
  return ParseProcStat(stat, ::sysconf(_SC_CLK_TCK));
}

absl::StatusOr<absl::Duration> ParseCpuMetric(absl::string_view metrics) {
  for (absl::string_view line : absl::StrSplit(metrics, '\n')) {
    double seconds = 0;
    if (absl::ConsumePrefix(&line, "process_cpu_seconds_total ") &&
        absl::SimpleAtod(line, &seconds)) {
      return absl::Seconds(seconds);
    }
  }
  return absl::NotFoundError("no process_cpu_seconds_total among the metrics");
}

absl::StatusOr<absl::Duration> ReadCpuFromMetrics(
    const std::string& host_port) {
  const size_t colon = host_port.rfind(':');
  if (colon == std::string::npos || colon == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("got \"", host_port, "\", want HOST:PORT"));
  }
  std::string host = host_port.substr(0, colon);
  if (host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  const Addresses addresses = Resolve(host, host_port.substr(colon + 1));
  std::string answer;
  for (const addrinfo* at = addresses.get(); at != nullptr && answer.empty();
       at = at->ai_next) {
    answer = Get(*at, host_port);
  }
  if (answer.empty()) {
    return absl::UnavailableError(
        absl::StrCat("no answer from http://", host_port, "/metrics"));
  }
  return ParseCpuMetric(answer);
}

}  // namespace tollgate::cli
