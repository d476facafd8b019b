// What a call of the client costs where no call goes out: while the service is
// gone and the breaker open, and while a refusal stands; and, to compare, where
// each refusal is asked for, of a service in this process that does nothing
// else. In the release preset:
//   build/release/bin/client_bench
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/client.h"
#include "tests/client/test_service.h"

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

// Refused for an hour by a rule whose name is longer than a short string.
grpc::Status Refuse(const v1::ShouldAllowRequest& /*request*/,
                    v1::ShouldAllowResponse& response) {
  response.set_outcome(v1::REFUSED);
  response.mutable_retry_after()->set_seconds(3600);
  response.mutable_stands_for()->set_seconds(3600);
  v1::RuleStatus* status = response.add_statuses();
  status->set_rule("requests-of-each-user-and-endpoint");
  status->set_outcome(v1::REFUSED);
  return grpc::Status::OK;
}

void AskWhoRefuses(benchmark::State& state, absl::Duration refusal_cache_ttl) {
  TestService service(Refuse);
  const auto server = service.Listen();
  ClientOptions options;
  options.target = service.target();
  options.timeout = absl::Seconds(10);
  options.refusal_cache_ttl = refusal_cache_ttl;
  const auto client = *Client::Create(options);
  Ask(state, *client);
}

// Once a second one of these goes out.
void BM_RefusedByTheCache(benchmark::State& state) {
  AskWhoRefuses(state, absl::Seconds(1));
}

void BM_RefusedByTheService(benchmark::State& state) {
  AskWhoRefuses(state, absl::ZeroDuration());
}

BENCHMARK(BM_OutageBackstop);
BENCHMARK(BM_OutageRefuse);
BENCHMARK(BM_RefusedByTheCache);
BENCHMARK(BM_RefusedByTheService);

}  // namespace
}  // namespace tollgate::client

BENCHMARK_MAIN();
