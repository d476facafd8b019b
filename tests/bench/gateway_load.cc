// Asks a server's ShouldRateLimit with requests of 1 and of 10 descriptors in
// turn, and prints what each costs the server: tests/bench/gateway_run starts
// it.
//
//   gateway_load PORT SERVER_PID ROUNDS MILLISECONDS

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "client/cli/server_cpu.h"
#include "envoy/service/ratelimit/v3/rls.grpc.pb.h"
#include "grpcpp/grpcpp.h"

namespace tollgate {
namespace {

using envoy::service::ratelimit::v3::RateLimitRequest;
using envoy::service::ratelimit::v3::RateLimitResponse;
using envoy::service::ratelimit::v3::RateLimitService;

constexpr int kThreads = 8;
constexpr uint64_t kKeys = 10'000;
constexpr int kMany = 10;  // descriptors

struct Load {
  uint64_t calls = 0;
  double cpu_us_per_call = 0;
};

RateLimitRequest MakeRequest(int descriptors, uint64_t key) {
  RateLimitRequest request;
  request.set_domain("bench");
  for (int i = 0; i < descriptors; ++i) {
    auto& entry = *request.add_descriptors()->add_entries();
    entry.set_key(absl::StrCat("key", i));
    entry.set_value(absl::StrCat("client-", key));
  }
  return request;
}

// Every descriptor must meet a limit and pass it, or this measures nothing.
bool IsAllowed(const RateLimitResponse& response, int descriptors) {
  if (response.overall_code() != RateLimitResponse::OK) return false;
  if (response.statuses_size() != descriptors) return false;
  return std::all_of(
      response.statuses().begin(), response.statuses().end(),
      [](const auto& status) { return status.has_current_limit(); });
}

class Bench {
 public:
  Bench(int port, int server_pid) : server_pid_(server_pid) {
    for (int i = 0; i < kThreads; ++i) {
      grpc::ChannelArguments arguments;
      arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
      stubs_.push_back(RateLimitService::NewStub(grpc::CreateCustomChannel(
          absl::StrCat("127.0.0.1:", port), grpc::InsecureChannelCredentials(),
          arguments)));
    }
  }

  Load Run(int descriptors, std::chrono::milliseconds duration) {
    const double before_us = CpuUs();
    std::atomic<uint64_t> calls{0};
    const auto end = std::chrono::steady_clock::now() + duration;
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        uint64_t key = static_cast<uint64_t>(t) * 7919;
        while (std::chrono::steady_clock::now() < end) {
          Ask(*stubs_[static_cast<size_t>(t)], descriptors, ++key % kKeys);
          ++calls;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    return {calls, (CpuUs() - before_us) / static_cast<double>(calls)};
  }

 private:
  static void Ask(RateLimitService::Stub& stub, int descriptors, uint64_t key) {
    grpc::ClientContext context;
    RateLimitResponse response;
    const grpc::Status status = stub.ShouldRateLimit(
        &context, MakeRequest(descriptors, key), &response);
    if (status.ok() && IsAllowed(response, descriptors)) return;
    std::fprintf(stderr, "gateway_load: got %s %s\n",
                 status.error_message().c_str(),
                 response.ShortDebugString().c_str());
    std::exit(1);
  }

  [[nodiscard]] double CpuUs() const {
    const absl::StatusOr<absl::Duration> cpu =
        cli::ReadCpuOfProcess(server_pid_);
    if (cpu.ok()) return absl::ToDoubleMicroseconds(*cpu);
    std::fprintf(stderr, "gateway_load: %s\n", cpu.status().ToString().c_str());
    std::exit(1);
  }

  const int server_pid_;
  std::vector<std::unique_ptr<RateLimitService::Stub>> stubs_;
};

double Quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(q * static_cast<double>(values.size() - 1) +
                                    0.5)];
}

int Run(int port, int server_pid, int rounds, int milliseconds) {
  Bench bench(port, server_pid);
  const std::chrono::milliseconds duration(milliseconds);
  for (const int descriptors : {1, kMany}) bench.Run(descriptors, duration);
  std::vector<double> one;
  std::vector<double> many;
  std::vector<double> ratios;
  for (int round = 0; round < rounds; ++round) {
    // In turn, and in either order, so that other work disturbs both alike.
    const bool one_first = round % 2 == 0;
    const Load first = bench.Run(one_first ? 1 : kMany, duration);
    const Load second = bench.Run(one_first ? kMany : 1, duration);
    one.push_back((one_first ? first : second).cpu_us_per_call);
    many.push_back((one_first ? second : first).cpu_us_per_call);
    ratios.push_back(one.back() > 0 ? many.back() / one.back() : 0);
  }
  std::printf("descriptors  CPU us/call\n%11d  %11.2f\n%11d  %11.2f\n", 1,
              Quantile(one, 0.5), kMany, Quantile(many, 0.5));
  std::printf("ratio %.2f, quartiles %.2f to %.2f\n", Quantile(ratios, 0.5),
              Quantile(ratios, 0.25), Quantile(ratios, 0.75));
  return 0;
}

}  // namespace
}  // namespace tollgate

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "gateway_load PORT SERVER_PID ROUNDS MILLISECONDS\n");
    return 2;
  }
  return tollgate::Run(std::atoi(argv[1]), std::atoi(argv[2]),
                       std::atoi(argv[3]), std::atoi(argv[4]));
}
