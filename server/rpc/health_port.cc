#include "server/rpc/health_port.h"

#include <array>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "grpcpp/alarm.h"
#include "grpcpp/grpcpp.h"
#include "server/net/peer_ledger.h"
#include "server/rpc/event.h"
#include "server/rpc/nobody_watches.h"

namespace tollgate {
namespace {

// As long as probes wait by default.
constexpr absl::Duration kAcceptTimeout = absl::Seconds(1);
// Probes are few and small.
constexpr int kMaxConnections = 128;
constexpr int kMaxMessageBytes = 1024;
constexpr net::GuardLimits kGuard = {.unaccounted_bytes = 128 * 1024,
                                     .flood_block = absl::Seconds(1),
                                     .slow_reader = absl::Seconds(20)};

class OneThreadHealthPort final : public HealthPort {
 public:
  OneThreadHealthPort(const Health& health, net::Listener& main_port)
      : health_(health), main_port_(main_port) {}
  ~OneThreadHealthPort() override;

  absl::Status Start(const std::string& listen, const Clock& steady_clock);
  [[nodiscard]] int port() const override { return listener_->port(); }
  void Announce() override {
    announce_now_.Set(queue_.get(), gpr_inf_past(GPR_CLOCK_MONOTONIC),
                      &announcement_);
  }

 private:
  struct Announcement final : Event {
    explicit Announcement(OneThreadHealthPort& of) : port(of) {}
    void On(bool) override { port.calls_->Announce(); }
    OneThreadHealthPort& port;
  };
  // The thread itself shuts its queue: posting to one that is shut aborts.
  struct Quit final : Event {
    explicit Quit(OneThreadHealthPort& of) : port(of) {}
    void On(bool) override {
      port.calls_->Stop();
      port.queue_->Shutdown();
    }
    OneThreadHealthPort& port;
  };

  void Run() {
    calls_->Post();
    void* tag = nullptr;
    bool ok = false;
    while (queue_->Next(&tag, &ok)) static_cast<Event*>(tag)->On(ok);
  }

  const Health& health_;
  net::Listener& main_port_;
  NobodyWatches nobody_;
  net::PeerLedger ledger_{1};
  HealthCalls::Service service_;
  Announcement announcement_{*this};
  Quit quit_{*this};
  // Each uses those above it.
  std::unique_ptr<grpc::ServerCompletionQueue> queue_;
  std::unique_ptr<HealthCalls> calls_;
  grpc::Alarm announce_now_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> acceptor_;
  std::unique_ptr<net::Listener> listener_;
  std::thread thread_;
};

absl::Status OneThreadHealthPort::Start(const std::string& listen,
                                        const Clock& steady_clock) {
  auto listener = net::MakeListener(
      {.listen = listen, .max_connections = kMaxConnections, .guard = kGuard},
      ledger_, steady_clock, nobody_);
  if (!listener.ok()) return listener.status();
  constexpr int kSecondMs = 1000;
  constexpr std::array<std::pair<const char*, int>, 6> kArguments = {{
      {GRPC_ARG_MAX_CONCURRENT_STREAMS, 16},
      {GRPC_ARG_MAX_CONNECTION_IDLE_MS, 300 * kSecondMs},
      {GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, 10 * kSecondMs},
      {GRPC_ARG_KEEPALIVE_TIME_MS, 60 * kSecondMs},
      {GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 10 * kSecondMs},
      {GRPC_ARG_ENABLE_CHANNELZ, 0},
  }};
  grpc::ServerBuilder builder;
  for (const auto& [name, value] : kArguments) {
    builder.AddChannelArgument(name, value);
  }
  builder.SetMaxReceiveMessageSize(kMaxMessageBytes);
  builder.RegisterService(&service_);
  acceptor_ = builder.experimental().AddExternalConnectionAcceptor(
      grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD,
      grpc::InsecureServerCredentials());
  queue_ = builder.AddCompletionQueue();
  calls_ = std::make_unique<HealthCalls>(
      service_, *queue_, health_, ledger_.page(0),
      [this] { return main_port_.Accepts(kAcceptTimeout); });
  server_ = builder.BuildAndStart();
  if (server_ == nullptr) {
    return absl::UnavailableError("gRPC does not start; see the log");
  }
  thread_ = std::thread([this] { Run(); });
  listener_ = *std::move(listener);
  listener_->Start([acceptor = acceptor_.get()](int fd) {
    grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters
        connection;
    connection.fd = fd;
    acceptor->HandleNewConnection(&connection);
  });
  return absl::OkStatus();
}

OneThreadHealthPort::~OneThreadHealthPort() {
  if (listener_ == nullptr) return;  // it never started
  // From here on nothing is handed to the server, which would leak it.
  listener_->StopAccepting();
  server_->Shutdown(gpr_inf_past(GPR_CLOCK_MONOTONIC));
  grpc::Alarm now;
  now.Set(queue_.get(), gpr_inf_past(GPR_CLOCK_MONOTONIC), &quit_);
  thread_.join();
  server_.reset();
  listener_.reset();
}

}  // namespace

absl::StatusOr<std::unique_ptr<HealthPort>> StartHealthPort(
    const std::string& listen, const Health& health, net::Listener& main_port,
    const Clock& steady_clock) {
  auto port = std::make_unique<OneThreadHealthPort>(health, main_port);
  absl::Status status = port->Start(listen, steady_clock);
  if (!status.ok()) return status;
  return port;
}

}  // namespace tollgate
