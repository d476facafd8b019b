// Prints what each algorithm decides about the same arrivals, as CSV:
// algorithm, arrival in milliseconds, outcome, and when it goes ahead. The
// picture of deploy/rules/choosing-an-algorithm.md is drawn from it.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "absl/status/statusor.h"
#include "server/limiter/algorithm.h"

namespace tollgate {
namespace {

constexpr int64_t kMilli = 1'000'000;
constexpr int64_t kSecond = 1'000 * kMilli;
// A multiple of the period, so that windows begin where the picture does.
constexpr int64_t kStart = 1'700'000'000 * kSecond;

// Ten in ten seconds; the leaky bucket lets two go at once and holds the
// others for up to five seconds.
Limit LimitFor(absl::string_view algorithm) {
  const bool leaky = algorithm == "leaky_bucket";
  absl::StatusOr<Limit> limit =
      Limit::Create(10, absl::Seconds(10), leaky ? 2 : 10);
  if (limit.ok() && leaky) limit = limit->WithHold(absl::Seconds(5));
  if (!limit.ok()) std::abort();
  return *limit;
}

// A burst, one just before the edge of a window, one just after it, and then
// two in each second.
std::vector<int64_t> Arrivals() {
  std::vector<int64_t> arrivals;
  for (int i = 0; i < 4; ++i) arrivals.push_back(1'000 + 100 * i);
  for (int i = 0; i < 12; ++i) arrivals.push_back(8'750 + 100 * i);
  for (int i = 0; i < 12; ++i) arrivals.push_back(10'050 + 100 * i);
  for (int i = 0; i < 20; ++i) arrivals.push_back(15'000 + 500 * i);
  return arrivals;
}

void Trace(const Algorithm& algorithm) {
  const Limit limit = LimitFor(algorithm.name());
  BucketState state;
  uint64_t ticket = 0;
  for (const int64_t arrival : Arrivals()) {
    const Verdict verdict = algorithm.Take(state, limit, Ask{1, 0, ++ticket},
                                           kStart + arrival * kMilli);
    std::printf("%s,%lld,%s,%lld\n", std::string(algorithm.name()).c_str(),
                static_cast<long long>(arrival),
                verdict.allowed ? "allowed" : "refused",
                static_cast<long long>(arrival + verdict.delay_ns / kMilli));
  }
  algorithm.Trim(state, limit, INT64_MAX);
}

}  // namespace
}  // namespace tollgate

int main() {
  std::printf("algorithm,arrival_ms,outcome,goes_ahead_ms\n");
  for (const char* name : {"token_bucket", "sliding_log", "sliding_window",
                           "fixed_window", "leaky_bucket"}) {
    tollgate::Trace(*tollgate::FindAlgorithm(name));
  }
}
