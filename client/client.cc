// Puts a client together: the one file that names the concrete parts, and the
// only one of the client that waits by the machine's clock.
#include "client/client.h"

#include <chrono>
#include <cstring>
#include <utility>

#include "absl/memory/memory.h"
#include "client/client_core.h"
#include "client/coalescer.h"
#include "client/grpc_transport.h"
#include "client/outage_rules.h"
#include "server/base/clock.h"
#include "server/base/keyed_hash.h"

namespace tollgate::client {
namespace {

class SteadyWait final : public CallWait {
 public:
  explicit SteadyWait(const Clock& clock) : clock_(clock) {}

  void Wait(std::condition_variable_any& changed, Mutex& mutex,
            absl::FunctionRef<bool()> done, int64_t deadline_ns)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) override {
    const auto until = std::chrono::steady_clock::now() +
                       std::chrono::nanoseconds(deadline_ns - clock_.NowNs());
    while (!done()) {
      if (changed.wait_until(mutex, until) == std::cv_status::timeout) return;
    }
  }

 private:
  const Clock& clock_;
};

uint64_t RandomSeed() {
  const HashKey random = RandomHashKey();
  uint64_t seed = 0;
  std::memcpy(&seed, random.bytes.data(), sizeof(seed));
  return seed;
}

std::unique_ptr<Transport> MakeTransport(const ClientOptions& options,
                                         const Clock& clock,
                                         OutageRules& rules) {
  GrpcTransportOptions grpc;
  grpc.target = options.target;
  grpc.load_balancing = options.load_balancing;
  grpc.tls = options.tls;
  if (options.watch_policy) grpc.policy_handler = &rules;
  grpc.policy_domains = options.policy_domains;
  grpc.seed = RandomSeed();
  auto connection = MakeGrpcTransport(grpc);
  if (options.max_batch == 1) return connection;
  return std::make_unique<Coalescer>(
      CoalescerOptions{.max_batch = options.max_batch}, clock,
      std::move(connection));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Client>> Client::Create(ClientOptions options) {
  absl::Status valid = ValidateOptions(options);
  if (!valid.ok()) return valid;  // before anything connects
  ClientParts parts;
  parts.clock = std::make_unique<SystemClock>();
  parts.wait = std::make_unique<SteadyWait>(*parts.clock);
  parts.rules = std::make_unique<OutageRules>(*parts.clock);
  parts.transport = MakeTransport(options, *parts.clock, *parts.rules);
  parts.seed = RandomSeed();
  parts.hash_key = RandomHashKey();
  auto core = ClientCore::Create(options, std::move(parts));
  if (!core.ok()) return core.status();
  return absl::WrapUnique(new Client(*std::move(core)));
}

Client::Client(std::unique_ptr<ClientCore> core) : core_(std::move(core)) {}

// Before anything is destroyed, since callbacks may still ask.
Client::~Client() { core_->Stop(); }

Decision Client::ShouldAllow(const Request& request) {
  return core_->ShouldAllow(request);
}

void Client::ShouldAllowAsync(const Request& request,
                              std::function<void(Decision)> callback) {
  core_->ShouldAllowAsync(request, std::move(callback));
}

void Client::Release(const std::string& ticket) { core_->Release(ticket); }

void Client::Refund(const Request& request, uint32_t cost,
                    absl::Time decided_at, absl::string_view overflow) {
  core_->Refund(request, cost, decided_at, overflow);
}

ClientStats Client::stats() const { return core_->stats(); }

}  // namespace tollgate::client
