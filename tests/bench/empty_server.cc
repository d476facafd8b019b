// The server that tests/bench/rpc_run compares tollgate-server with: the same
// server model, and a handler that answers at once with an empty message. What
// tollgate-server costs above it is what a decision costs.
#include <signal.h>  // NOLINT(modernize-deprecated-headers): POSIX signals

#include <cstdio>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "server/base/clock.h"
#include "server/limiter/limiter.h"
#include "server/limiter/memory_store.h"
#include "server/rpc/admin_handler.h"
#include "server/rpc/async_rpc_server.h"
#include "server/rpc/handlers.h"

namespace tollgate {
namespace {

class EmptyHandler final : public MessageHandler {
 public:
  void ShouldAllow(const v1::ShouldAllowRequest&, int64_t,
                   v1::ShouldAllowResponse&, Finish finish) override {
    finish(absl::OkStatus());
  }
  void ShouldAllowBatch(const v1::ShouldAllowBatchRequest&, int64_t,
                        DomainCheck, v1::ShouldAllowBatchResponse&,
                        Finish finish) override {
    finish(absl::OkStatus());
  }
  void Refund(const v1::RefundRequest&, int64_t, v1::RefundResponse&,
              Finish finish) override {
    finish(absl::OkStatus());
  }
  void Release(const v1::ReleaseRequest&, int64_t, v1::ReleaseResponse&,
               Finish finish) override {
    finish(absl::OkStatus());
  }
};

class NobodyLooks final : public RpcObserver {
 public:
  void OnArrival() override {}
  void OnFinish(int64_t) override {}
  void OnExpired() override {}
  void OnOverload() override {}
  void OnLongQueue() override {}
  void OnInvalid() override {}
  void OnWatchers(int) override {}
};

// Serves until SIGTERM or SIGINT. Prints the port as tollgate-server writes it
// to --port-file.
int Serve() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  RpcServerOptions options;
  options.listen = "127.0.0.1:0";
  const SystemClock limiter_clock;
  const SteadyClock steady_clock;
  NobodyLooks observer;
  Limiter limiter(limiter_clock);  // without rules
  MemoryStore store(limiter);
  options.rules_in_force = [&] { return RulesInForce{"", limiter.rules()}; };
  const std::unique_ptr<RpcServer> server = MakeAsyncRpcServer(
      options,
      [&] {
        return Handlers{std::make_unique<EmptyHandler>(),
                        std::make_unique<AdminHandler>(
                            limiter, store, options.rules_in_force, observer),
                        std::make_unique<GatewayHandler>(
                            limiter, store, EnvoyAnswerOptions(), observer)};
      },
      limiter_clock, steady_clock, observer);
  const absl::StatusOr<int> port = server->Start();
  if (!port.ok()) {
    std::fprintf(stderr, "empty_server: %s\n",
                 port.status().ToString().c_str());
    return 1;
  }
  std::printf("grpc=%d\n", *port);
  std::fflush(stdout);
  int signal = 0;
  sigwait(&signals, &signal);
  server->Drain(absl::Seconds(1));
  return 0;
}

}  // namespace
}  // namespace tollgate

int main() {
  // As tollgate-server does.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  return tollgate::Serve();
}
