// A client that behaves, while others do not.
//
//   honest_client TARGET [CA_FILE]
//
// Prints "ready" once the service has answered, and then asks 500 times a
// second. For each line of its input it prints what became of the calls since
// the line before; it ends at the end of its input.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/client.h"
#include "client/tls.h"
#include "server/base/clock.h"

namespace tollgate {
namespace {

using client::Client;
using client::ClientOptions;
using client::Source;

constexpr int64_t kPaceNs = 2'000'000;

enum class Input { kNothing, kLine, kEnd };

// Takes a byte of the input, if there is one.
Input ReadInput() {
  pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  if (::poll(&input, 1, 0) <= 0) return Input::kNothing;
  char byte = 0;
  if (::read(STDIN_FILENO, &byte, 1) <= 0) return Input::kEnd;
  return byte == '\n' ? Input::kLine : Input::kNothing;
}

// Calls since the last report.
struct Calls {
  int64_t missed = 0;  // the service did not decide
  std::vector<int64_t> took_ns;

  void Report() {
    std::sort(took_ns.begin(), took_ns.end());
    const auto quantile_us = [this](size_t percent) -> long long {
      if (took_ns.empty()) return 0;
      return took_ns[(took_ns.size() - 1) * percent / 100] / 1000;
    };
    std::printf("calls %zu missed %lld p50_us %lld p99_us %lld max_us %lld\n",
                took_ns.size(), static_cast<long long>(missed), quantile_us(50),
                quantile_us(99), quantile_us(100));
    std::fflush(stdout);
    *this = {};
  }
};

int Run(const ClientOptions& options) {
  const auto client = Client::Create(options);
  if (!client.ok()) return 2;
  const auto ask = [&client] {
    return (*client)->ShouldAllow({"shop", {{{"user", "ana"}}}}).source ==
           Source::kService;
  };
  while (!ask()) {
    if (ReadInput() == Input::kEnd) return 1;
  }
  std::puts("ready");
  std::fflush(stdout);

  const SteadyClock clock;
  Calls calls;
  int64_t due_ns = clock.NowNs();
  for (Input input; (input = ReadInput()) != Input::kEnd;) {
    if (input == Input::kLine) calls.Report();
    absl::SleepFor(absl::Nanoseconds(due_ns - clock.NowNs()));
    const int64_t start_ns = clock.NowNs();
    if (!ask()) ++calls.missed;
    const int64_t end_ns = clock.NowNs();
    calls.took_ns.push_back(end_ns - start_ns);
    due_ns = std::max(due_ns + kPaceNs, end_ns);
  }
  return 0;
}

}  // namespace
}  // namespace tollgate

int main(int argc, char** argv) {
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  if (argc != 2 && argc != 3) return 2;
  tollgate::client::ClientOptions options;
  options.target = argv[1];
  // So long that on a busy machine too, only what is never answered is missed.
  options.timeout = absl::Seconds(10);
  options.outage_policy = tollgate::client::OutagePolicy::kRefuse;
  options.refusal_cache_ttl = absl::ZeroDuration();
  if (argc == 3) {
    auto tls = tollgate::client::ReadTlsFiles(argv[2], "", "");
    if (!tls.ok()) return 2;
    options.tls = *tls;
  }
  return tollgate::Run(options);
}
