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
#include "grpcpp/alarm.h"
#include "grpcpp/ext/proto_server_reflection_plugin.h"
#include "grpcpp/grpcpp.h"
#include "grpcpp/resource_quota.h"
#include "server/base/mutex.h"
#include "server/base/periodic_thread.h"
#include "server/net/listener.h"
#include "server/net/peer_ledger.h"
#include "server/rpc/access.h"
#include "server/rpc/admission.h"
#include "server/rpc/call.h"
#include "server/rpc/handlers.h"
#include "server/rpc/health.h"
#include "server/rpc/health_port.h"
#include "server/rpc/library_logs.h"
#include "server/rpc/methods.h"
#include "server/rpc/nobody_watches.h"
#include "server/rpc/policy_calls.h"
#include "server/rpc/policy_feed.h"
#include "server/rpc/tls.h"

namespace tollgate {
namespace {

// Each so many looks for news of the policy is a heartbeat.
constexpr uint64_t kHeartbeat = 10;

// One completion queue and its thread, which alone touches the queue's calls.
class Worker {
 public:
  Worker(Services& services, std::unique_ptr<grpc::ServerCompletionQueue> queue,
         Admission& admission, Handlers handlers, PolicyFeed& feed,
         net::PeerLedger::Page& peers, const Access* access)
      : queue_(std::move(queue)),
        handlers_(std::move(handlers)),
        pools_(CallContext{services, *queue_, admission, handlers_, peers,
                           access}),
        health_(services.health_calls, *queue_, services.health, peers),
        policies_(services.rate_limiter, *queue_, services.health, feed, peers,
                  access),
        announce_(*this),
        quit_(*this) {}

  void Start() {
    thread_ = std::thread([this] { Run(); });
  }

  // Before Stop, from any thread: tells those who watch that the health has
  // changed or that there is news of the policy.
  void Announce() {
    MutexLock lock(announce_mutex_);
    if (std::exchange(announcing_, true)) return;
    announce_now_.Set(queue_.get(), gpr_inf_past(GPR_CLOCK_MONOTONIC),
                      &announce_);
  }

  // After the server's Shutdown. Returns when the queue is empty.
  void Stop() {
    // The thread itself shuts its queue: posting to one that is shut aborts.
    grpc::Alarm now;
    now.Set(queue_.get(), gpr_inf_past(GPR_CLOCK_MONOTONIC), &quit_);
    thread_.join();
  }

 private:
  class Announcement final : public Event {
   public:
    explicit Announcement(Worker& worker) : worker_(worker) {}
    void On(bool) override {
      {
        MutexLock lock(worker_.announce_mutex_);
        worker_.announcing_ = false;  // before looking at what is announced
      }
      worker_.health_.Announce();
      worker_.policies_.Announce();
    }

   private:
    Worker& worker_;
  };

  class Quit final : public Event {
   public:
    explicit Quit(Worker& worker) : worker_(worker) {}
    void On(bool) override {
      worker_.health_.Stop();
      worker_.policies_.Stop();
      worker_.pools_.Stop();
      worker_.quitting_ = true;
    }

   private:
    Worker& worker_;
  };

  void Run() {
    pools_.PostAll();
    health_.Post();
    policies_.Post();
    void* tag = nullptr;
    bool ok = false;
    while (queue_->Next(&tag, &ok)) {
      static_cast<Event*>(tag)->On(ok);
      // The server does not wait for calls that it has cut off, and to answer
      // one on a queue that is shut aborts.
      if (quitting_ && pools_.answering() == 0) {
        quitting_ = false;
        queue_->Shutdown();
      }
    }
  }

  const std::unique_ptr<grpc::ServerCompletionQueue> queue_;
  Handlers handlers_;
  AllCallPools pools_;
  HealthCalls health_;
  PolicyCalls policies_;
  Announcement announce_;
  Mutex announce_mutex_;
  bool announcing_ ABSL_GUARDED_BY(announce_mutex_) = false;
  grpc::Alarm announce_now_;  // set while `announcing_`
  Quit quit_;
  bool quitting_ = false;  // told to, and the queue is not shut yet
  std::thread thread_;
};

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
  void AnnounceToAll() {
    for (const auto& worker : workers_) worker->Announce();
  }
  // Returns whether that is news.
  bool LookWhetherReady() {
    return options_.is_ready != nullptr &&
           services_.health.SetReady(options_.is_ready());
  }
  // A step of the thread that looks for news of the policy and of what health
  // says: the time until the next.
  absl::Duration LookForNews() {
    const bool heartbeat = ++looks_ % kHeartbeat == 0;
    bool news = feed_.Refresh(heartbeat);
    news = LookWhetherReady() || news;
    if (news) AnnounceToAll();
    return options_.policy_interval;
  }

  const RpcServerOptions options_;
  const HandlersFactory make_handlers_;
  const Access access_;
  const int threads_;
  const Clock& steady_clock_;
  Admission admission_;
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
  for (int i = 0; i < threads_; ++i) {
    workers_.push_back(std::make_unique<Worker>(
        services_, builder.AddCompletionQueue(), admission_, make_handlers_(),
        feed_, ledger_.page(static_cast<size_t>(i)),
        access_.restricts() ? &access_ : nullptr));
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
