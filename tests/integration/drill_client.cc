// One client of the outage drill: asks at an even pace, and says at the end
// what it was answered and how long it waited.
//
//   drill_client TARGET CLIENTS TIMEOUT_MS
//
// Prints "ready" once it knows that CLIENTS share the limits, begins to ask at
// once, and ends at the end of its input. Then it prints a line for each 100 ms
// of the machine's steady clock (see Slot), and one line of the slowest.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <thread>

#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/client.h"
#include "server/base/clock.h"

namespace tollgate {
namespace {

using client::Client;
using client::ClientOptions;
using client::Decision;
using client::Source;

constexpr int64_t kMs = 1'000'000;
constexpr int64_t kSlotNs = 100 * kMs;
// Of 29 calls, 25 are under the rule that is kept to a share, 3 under the one
// that allows, 1 under the one that refuses: 250, 30 and 10 a second.
constexpr int64_t kPaceNs = 1'000 * kMs / 290;

const char* KindOf(int64_t call) {
  const int64_t n = call % 29;
  return n == 0 ? "refuse" : n < 4 ? "allow" : "backstop";
}

// What was answered within 100 ms.
struct Slot {
  int service = 0;          // decisions of the service
  int service_allowed = 0;  // "backstop" calls that it allowed
  int local_allowed = 0;    // that this client allowed by itself
  int allow = 0;            // "allow" calls
  int allow_allowed = 0;
  int refuse_local = 0;  // "refuse" calls that this client answered itself
  int refuse_local_allowed = 0;
};

void Count(const std::string& kind, const Decision& decision, Slot& slot) {
  const bool service = decision.source == Source::kService;
  const bool local = decision.source == Source::kBackstop ||
                     decision.source == Source::kOutagePolicy;
  const int allowed = decision.allowed ? 1 : 0;
  slot.service += service ? 1 : 0;
  if (kind == "backstop") {
    (local ? slot.local_allowed : slot.service_allowed) += allowed;
  } else if (kind == "allow") {
    ++slot.allow;
    slot.allow_allowed += allowed;
  } else if (local) {
    ++slot.refuse_local;
    slot.refuse_local_allowed += allowed;
  }
}

// The longest that a bare wait of the timeout's length takes beyond it, on this
// machine at this time.
class BareWait {
 public:
  explicit BareWait(absl::Duration length)
      : thread_([this, length] {
          const SteadyClock clock;
          while (!stop_.load()) {
            const int64_t start_ns = clock.NowNs();
            absl::SleepFor(length);
            worst_ns_ =
                std::max(worst_ns_, clock.NowNs() - start_ns -
                                        absl::ToInt64Nanoseconds(length));
          }
        }) {}
  int64_t Stop() {
    stop_.store(true);
    thread_.join();
    return worst_ns_;
  }

 private:
  std::atomic<bool> stop_{false};
  int64_t worst_ns_ = 0;  // of the thread, until it is joined
  std::thread thread_;
};

bool InputEnded() {
  pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  char byte = 0;
  return ::poll(&input, 1, 0) > 0 && ::read(STDIN_FILENO, &byte, 1) <= 0;
}

int Run(const ClientOptions& options, uint32_t clients) {
  const auto client = Client::Create(options);
  if (!client.ok()) return 2;
  while ((*client)->stats().policy.clients != clients) {
    if (InputEnded()) return 1;
    absl::SleepFor(absl::Milliseconds(5));
  }
  std::puts("ready");
  std::fflush(stdout);

  const SteadyClock clock;
  std::map<int64_t, Slot> slots;
  // What a call may take; the scheduler's part is told by the bare waits.
  const int64_t bound_ns =
      absl::ToInt64Nanoseconds(options.timeout + absl::Milliseconds(5));
  int64_t calls = 0;
  int64_t late = 0;
  int64_t slowest_ns = 0;
  int64_t fast_ns = 0;
  int64_t fast = 0;
  BareWait bare(options.timeout);
  int64_t due_ns = clock.NowNs();
  for (int64_t call = 0; !InputEnded(); ++call, due_ns += kPaceNs) {
    const int64_t early_ns = due_ns - clock.NowNs();
    if (early_ns > 0) absl::SleepFor(absl::Nanoseconds(early_ns));
    const std::string kind = KindOf(call);
    const int64_t start_ns = clock.NowNs();
    const Decision decision =
        (*client)->ShouldAllow({"shop", {{{"kind", kind}, {"user", "ana"}}}});
    const int64_t end_ns = clock.NowNs();
    slowest_ns = std::max(slowest_ns, end_ns - start_ns);
    ++calls;
    if (end_ns - start_ns > bound_ns) ++late;
    if (absl::IsUnavailable(decision.error)) {
      fast_ns += end_ns - start_ns;
      ++fast;
    }
    Count(kind, decision, slots[end_ns / kSlotNs]);
  }
  for (const auto& [at, slot] : slots) {
    std::printf("slot %lld %d %d %d %d %d %d %d\n", static_cast<long long>(at),
                slot.service, slot.service_allowed, slot.local_allowed,
                slot.allow, slot.allow_allowed, slot.refuse_local,
                slot.refuse_local_allowed);
  }
  std::printf("calls %lld late %lld\n", static_cast<long long>(calls),
              static_cast<long long>(late));
  std::printf("slowest_us %lld bare_us %lld unavailable_mean_ns %lld\n",
              static_cast<long long>(slowest_ns / 1000),
              static_cast<long long>(bare.Stop() / 1000),
              static_cast<long long>(fast > 0 ? fast_ns / fast : 0));
  return 0;
}

}  // namespace
}  // namespace tollgate

int main(int argc, char** argv) {
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  if (argc != 4) return 2;
  tollgate::client::ClientOptions options;
  options.target = argv[1];
  options.timeout = absl::Milliseconds(std::atoi(argv[3]));
  return tollgate::Run(options, static_cast<uint32_t>(std::atoi(argv[2])));
}
