#include "server/rpc/async_rpc_server.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "grpcpp/ext/proto_server_reflection_plugin.h"
#include "grpcpp/grpcpp.h"
#include "grpcpp/resource_quota.h"
#include "server/base/periodic_thread.h"
#include "server/net/listener.h"
#include "server/net/peer_ledger.h"
#include "server/rpc/access.h"
#include "server/rpc/admission.h"
#include "server/rpc/call_context.h"
#include "server/rpc/handlers.h"
#include "server/rpc/health.h"
#include "server/rpc/health_port.h"
#include "server/rpc/library_logs.h"
#include "server/rpc/nobody_watches.h"
#include "server/rpc/policy_feed.h"
#include "server/rpc/tls.h"
#include "server/rpc/worker.h"

namespace tollgate {
namespace {

// Each so many looks for news of the policy is a heartbeat.
constexpr uint64_t kHeartbeat = 10;

// Why each is what it is: polite peers queue at their side, silent and idle
// ones are cut off, clients come back to servers that are new, nothing is
// decompressed, and little of a connection is parsed after it was cut.
void SetChannelArguments(const RpcServerOptions& options,
                         grpc::ServerBuilder& builder) {
  constexpr int kSecondMs = 1000;
  const auto ms = [](absl::Duration duration) {
    return static_cast<int>(absl::ToInt64Milliseconds(duration));
  };
  const std::array<std::pair<const char*, int>, 14> arguments = {{
      {GRPC_ARG_MAX_CONCURRENT_STREAMS, 1024},
      {GRPC_ARG_MAX_CONNECTION_AGE_MS, ms(options.max_connection_age)},
      {GRPC_ARG_MAX_CONNECTION_AGE_GRACE_MS, ms(options.connection_age_grace)},
      {GRPC_ARG_MAX_CONNECTION_IDLE_MS, 300 * kSecondMs},
      {GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, 10 * kSecondMs},
      // Below the clients' keepalive, which would else be cut off for pinging.
      {GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 9 * kSecondMs},
      {GRPC_ARG_HTTP2_MAX_PING_STRIKES, 2},
      {GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1},
      {GRPC_ARG_KEEPALIVE_TIME_MS, 60 * kSecondMs},
      {GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 10 * kSecondMs},
      {GRPC_ARG_TCP_MAX_READ_CHUNK_SIZE, 8192},
      {GRPC_ARG_ENABLE_CHANNELZ, 0},
      {GRPC_ARG_ENABLE_PER_MESSAGE_COMPRESSION, 0},
      {GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0},
  }};
  for (const auto& [name, value] : arguments) {
    builder.AddChannelArgument(name, value);
  }
}

// Reflection is a synchronous service: few threads are enough for it, and
// without a cap a peer could ask for any number of them.
void BoundReflection(grpc::ServerBuilder& builder) {
  grpc::ResourceQuota quota("tollgate");
  quota.SetMaxThreads(4);
  builder.SetResourceQuota(quota);
  builder.SetSyncServerOption(grpc::ServerBuilder::NUM_CQS, 1);
  builder.SetSyncServerOption(grpc::ServerBuilder::MIN_POLLERS, 1);
  builder.SetSyncServerOption(grpc::ServerBuilder::MAX_POLLERS, 2);
}

// As many as cores, but at least 2, unless told otherwise.
int ThreadsOf(const RpcServerOptions& options) {
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  return options.threads > 0 ? options.threads : std::max(2, cores);
}

class AsyncRpcServer final : public RpcServer {
 public:
  AsyncRpcServer(RpcServerOptions options, HandlersFactory make_handlers,
                 const Clock& limiter_clock, const Clock& steady_clock,
                 RpcObserver& observer)
      : options_(std::move(options)),
        make_handlers_(std::move(make_handlers)),
        access_(options_.access),
        threads_(ThreadsOf(options_)),
        steady_clock_(steady_clock),
        admission_(options_.max_in_flight, limiter_clock, steady_clock,
                   observer),
        admin_admission_(kMaxAdminCalls, limiter_clock, steady_clock, observer),
        feed_(options_.rules_in_force, options_.max_watchers, observer),
        ledger_(static_cast<size_t>(threads_)) {}
  ~AsyncRpcServer() override { Drain(absl::ZeroDuration()); }

  absl::StatusOr<int> Start() override;
  [[nodiscard]] int health_port() const override {
    return health_port_ == nullptr ? 0 : health_port_->port();
  }
  void AnnounceShutdown() override;
  void Drain(absl::Duration grace) override;

 private:
  // Connections come from an accept loop of our own: the library's never
  // accepts again once descriptors ran out, and watches nobody.
  absl::Status Listen();
  void StartAccepting();
  void AddWorkers(grpc::ServerBuilder& builder);
  void AnnounceToAll(Unread unread = Unread::kKeep) {
    for (const auto& worker : workers_) worker->Announce(unread);
  }
  // Returns whether that is news.
  bool LookWhetherReady() {
    return options_.is_ready != nullptr &&
           services_.health.SetReady(options_.is_ready());
  }
  // A step of the thread that looks for news of the policy and of what health
  // says, and whether places are wanted: the time until the next.
  absl::Duration LookForNews() {
    const bool heartbeat = ++looks_ % kHeartbeat == 0;
    bool news = feed_.Refresh(heartbeat);
    news = LookWhetherReady() || news;
    // Either alone, so that neither is skipped.
    const bool asked_full = admission_.TakeWasFull();
    const bool admin_full = admin_admission_.TakeWasFull();
    const bool full = asked_full || admin_full;
    if (news || full) AnnounceToAll(full ? Unread::kDrop : Unread::kKeep);
    return options_.policy_interval;
  }

  const RpcServerOptions options_;
  const HandlersFactory make_handlers_;
  const Access access_;
  const int threads_;
  const Clock& steady_clock_;
  Admission admission_;
  Admission admin_admission_;
  Services services_;
  PolicyFeed feed_;
  uint64_t looks_ = 0;  // of the news thread alone
  NobodyWatches nobody_;
  net::PeerLedger ledger_;  // a page for each worker
  // Each uses those above it: the server the workers' queues until it is gone,
  // the listener's thread the acceptor.
  std::vector<std::unique_ptr<Worker>> workers_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> acceptor_;
  std::unique_ptr<net::Listener> listener_;
  std::unique_ptr<HealthPort> health_port_;  // null if there is none
  std::unique_ptr<PeriodicThread> news_;     // uses all of the above
};

absl::Status AsyncRpcServer::Listen() {
  net::ConnectionObserver& observer =
      options_.connections == nullptr ? nobody_ : *options_.connections;
  auto listener = net::MakeListener(
      {.listen = options_.listen,
       .max_connections = options_.max_connections,
       .max_connections_per_address = options_.max_connections_per_address,
       .guard = options_.guard},
      ledger_, steady_clock_, observer);
  if (!listener.ok()) return listener.status();
  listener_ = *std::move(listener);
  return absl::OkStatus();
}

void AsyncRpcServer::StartAccepting() {
  listener_->Start([acceptor = acceptor_.get()](int fd) {
    grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters
        connection;
    connection.fd = fd;
    acceptor->HandleNewConnection(&connection);
  });
}

void AsyncRpcServer::AddWorkers(grpc::ServerBuilder& builder) {
  const WorkerShared shared{.services = services_,
                            .admission = admission_,
                            .admin_admission = admin_admission_,
                            .feed = feed_,
                            .access = access_.restricts() ? &access_ : nullptr,
                            .steady_clock = steady_clock_,
                            .max_queue_wait = options_.max_queue_wait};
  for (int i = 0; i < threads_; ++i) {
    workers_.push_back(std::make_unique<Worker>(
        shared, builder.AddCompletionQueue(), make_handlers_(),
        ledger_.page(static_cast<size_t>(i))));
  }
}

absl::StatusOr<int> AsyncRpcServer::Start() {
  TakeOverLibraryLogs();
  absl::Status listening = Listen();
  if (!listening.ok()) return listening;
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  grpc::ServerBuilder builder;
  SetChannelArguments(options_, builder);
  BoundReflection(builder);
  builder.SetMaxReceiveMessageSize(options_.max_message_bytes);
  builder.RegisterService(&services_.rate_limiter);
  builder.RegisterService(&services_.admin);
  builder.RegisterService(&services_.gateway);
  builder.RegisterService(&services_.health_calls);
  feed_.Refresh(/*heartbeat=*/false);
  LookWhetherReady();
  acceptor_ = builder.experimental().AddExternalConnectionAcceptor(
      grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD,
      MakeCredentials(options_.tls));
  AddWorkers(builder);
  server_ = builder.BuildAndStart();
  if (server_ == nullptr) {
    return absl::UnavailableError("gRPC does not start; see the log");
  }
  for (const auto& worker : workers_) worker->Start();
  news_ = std::make_unique<PeriodicThread>([this] { return LookForNews(); });
  StartAccepting();
  if (!options_.health_listen.empty()) {
    auto health_port = StartHealthPort(options_.health_listen, services_.health,
                                       *listener_, steady_clock_);
    if (!health_port.ok()) return health_port.status();
    health_port_ = *std::move(health_port);
  }
  return listener_->port();
}

void AsyncRpcServer::AnnounceShutdown() {
  if (server_ == nullptr || services_.health.stopping()) return;
  services_.health.StopServing();
  AnnounceToAll();
  if (health_port_ != nullptr) health_port_->Announce();
}

void AsyncRpcServer::Drain(absl::Duration grace) {
  if (server_ == nullptr) return;
  AnnounceShutdown();
  news_.reset();
  // From here on nothing is handed to the server, which would leak it.
  listener_->StopAccepting();
  server_->Shutdown(gpr_time_from_nanos(
      absl::ToInt64Nanoseconds(std::max(grace, absl::ZeroDuration())),
      GPR_TIMESPAN));
  for (const auto& worker : workers_) worker->Stop();
  server_.reset();
  health_port_.reset();
  listener_.reset();
}

}  // namespace

std::unique_ptr<RpcServer> MakeAsyncRpcServer(RpcServerOptions options,
                                              HandlersFactory make_handlers,
                                              const Clock& limiter_clock,
                                              const Clock& steady_clock,
                                              RpcObserver& observer) {
  return std::make_unique<AsyncRpcServer>(
      std::move(options), std::move(make_handlers), limiter_clock, steady_clock,
      observer);
}

}  // namespace tollgate
