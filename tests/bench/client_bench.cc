// What a call of the client costs where no call goes out: while the service is
// gone and the breaker open. In the release preset:
//   build/release/bin/client_bench
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/client.h"

namespace tollgate::client {
namespace {

const Request& Ana() {
  static const auto& request =
      *new Request{"shop", {{{"user", "ana"}, {"endpoint", "/search"}}}};
  return request;
}

// A client whose service is gone, as it is once the breaker has noticed.
std::unique_ptr<Client> WithoutService(OutagePolicy policy) {
  ClientOptions options;
  options.target = "127.0.0.1:1";
  options.outage_policy = policy;
  options.backstop_tokens = 1'000'000'000;
  auto client = *Client::Create(options);
  while (!client->stats().breaker_open) {
    client->ShouldAllow(Ana());
    absl::SleepFor(absl::Milliseconds(1));
  }
  return client;
}

void Ask(benchmark::State& state, Client& client) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(client.ShouldAllow(Ana()).allowed);
  }
}

void BM_OutageBackstop(benchmark::State& state) {
  const auto client = WithoutService(OutagePolicy::kBackstop);
  Ask(state, *client);
}

void BM_OutageRefuse(benchmark::State& state) {
  const auto client = WithoutService(OutagePolicy::kRefuse);
  Ask(state, *client);
}

BENCHMARK(BM_OutageBackstop);
BENCHMARK(BM_OutageRefuse);

}  // namespace
}  // namespace tollgate::client

BENCHMARK_MAIN();
