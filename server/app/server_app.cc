// The composition root: the only file that names concrete classes.
#include "server/app/server_app.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "server/app/connection_log.h"
#include "server/app/gateway_routes.h"
#include "server/app/network_flags.h"
#include "server/app/overflow_log.h"
#include "server/app/rule_loader.h"
#include "server/app/shared_store.h"
#include "server/app/status_source.h"
#include "server/app/tls_files.h"
#include "server/base/clock.h"
#include "server/http/http_server.h"
#include "server/limiter/limiter.h"
#include "server/limiter/memory_store.h"
#include "server/limiter/refused_keys.h"
#include "server/limiter/sweeper.h"
#include "server/metrics/metrics.h"
#include "server/redis/redis_store.h"
#include "server/rpc/rpc_server.h"
#include "server/rules/rule_watcher.h"
#include "server/state/state_keeper.h"
#include "server/status/status_routes.h"
#include "spdlog/spdlog.h"

namespace tollgate {
namespace {

// Carries what the service sees over to the metrics.
class CallMetrics final : public RpcObserver {
 public:
  explicit CallMetrics(Metrics& metrics) : metrics_(metrics) {}
  void OnArrival() override { metrics_.CountArrival(); }
  void OnFinish(int64_t duration_ns) override {
    metrics_.CountFinish(duration_ns);
  }
  void OnExpired() override { metrics_.CountExpired(); }
  void OnOverload() override { metrics_.CountOverload(); }
  void OnLongQueue() override { metrics_.CountLongQueue(); }
  void OnInvalid() override { metrics_.CountInvalid(); }
  void OnWatchers(int change) override { metrics_.CountWatchers(change); }

 private:
  Metrics& metrics_;
};

// Carries what becomes of the state file over to the metrics.
class StateMetrics final : public state::StateObserver {
 public:
  explicit StateMetrics(Metrics& metrics) : metrics_(metrics) {}
  void OnRestored(uint64_t buckets) override {
    metrics_.SetStateRestored(buckets);
  }
  void OnSaved(int64_t at_ns) override { metrics_.CountStateSaved(at_ns); }
  void OnSaveFailed() override { metrics_.CountStateSaveFailure(); }

 private:
  Metrics& metrics_;
};

// Small enough that a flood costs little before it is cut, and large enough for
// some of the largest messages under way at a time; at first for the two that a
// client of ours has.
net::GuardLimits GuardLimitsOf(const ServerOptions& options) {
  constexpr uint64_t kKiB = 1024;
  const auto message = static_cast<uint64_t>(options.max_message_bytes);
  const uint64_t flood = options.flood_bytes.value_or(128 * kKiB + 4 * message);
  return {.unaccounted_bytes = flood,
          .unproven_bytes = std::min(flood, 96 * kKiB + message),
          .stalling_bytes = flood == 0 ? 0 : 32 * kKiB,
          .flood_block = options.flood_block,
          .slow_reader = options.slow_reader_timeout};
}

class RunningServer final : public ServerApp {
 public:
  // `keeper` is null where no state is kept.
  RunningServer(const ServerOptions& options,
                std::unique_ptr<state::StateKeeper> keeper)
      : options_(options),
        metrics_(MakeMetrics({.version = ServerVersion()})),
        call_metrics_(*metrics_),
        connection_log_(*metrics_, steady_clock_),
        state_metrics_(*metrics_),
        limiter_(limiter_clock_,
                 LimiterOptions{
                     .max_buckets = static_cast<size_t>(options.max_buckets),
                     .hash_key = keeper == nullptr ? RandomHashKey()
                                                   : keeper->hash_key(),
                     .observer = metrics_.get(),
                     .refused_keys = options.refused_keys}),
        keeper_(std::move(keeper)),
        rules_(limiter_, *metrics_, limiter_clock_,
               options.store == "memory" ? nullptr : &redis::CheckRules),
        watcher_({.path = options.rules,
                  .load = options.load,
                  .poll = options.rules_poll},
                 steady_clock_) {}

  absl::Status Start();

  [[nodiscard]] int grpc_port() const override { return grpc_port_; }
  [[nodiscard]] int http_port() const override {
    return http_ == nullptr ? 0 : http_->port();
  }
  [[nodiscard]] int health_port() const override { return rpc_->health_port(); }
  void ReloadRules() override { watcher_.Reload(); }
  void AnnounceShutdown() override {
    state_ = State::kDraining;
    rpc_->AnnounceShutdown();
  }
  void Drain() override {
    state_ = State::kDraining;
    rpc_->Drain(options_.drain_grace);
    if (keeper_ == nullptr) return;
    keeper_->Finish();  // nothing is decided any more
    keeper_.reset();
  }

 private:
  enum class State { kStarting, kReady, kDraining };

  absl::Status StartStore();
  absl::Status StartRules();
  absl::Status StartHttp();
  absl::Status StartRpc();
  [[nodiscard]] BucketStore& store() {
    return shared_ == nullptr ? static_cast<BucketStore&>(memory_)
                              : shared_->store();
  }
  [[nodiscard]] StoreStatus store_status() const;
  [[nodiscard]] Readiness readiness() const;
  // Whether the store has not answered yet, and must before all else.
  [[nodiscard]] bool waits_for_store() const {
    return shared_ != nullptr && !options_.start_without_store &&
           !shared_->has_answered();
  }
  [[nodiscard]] EnvoyAnswerOptions gateway_options() const {
    return {
        .headers = options_.rate_limit_headers.value_or(HeaderProfile::kNone),
        .dynamic_metadata = options_.envoy_dynamic_metadata,
        .shadow_mode = options_.envoy_shadow_mode};
  }

  const ServerOptions options_;
  std::atomic<State> state_{State::kStarting};  // told by HTTP's threads
  int grpc_port_ = 0;

  // Each uses those above it, so the last is the first to go.
  const SystemClock limiter_clock_;
  const SteadyClock steady_clock_;
  const std::unique_ptr<Metrics> metrics_;
  CallMetrics call_metrics_;
  ConnectionLog connection_log_;
  StateMetrics state_metrics_;
  Limiter limiter_;
  MemoryStore memory_{limiter_};
  std::unique_ptr<SharedStore> shared_;  // null if buckets are in this process
  std::unique_ptr<state::StateKeeper> keeper_;
  RuleLoader rules_;
  const StatusSource status_source_{
      {.version = ServerVersion(),
       .max_in_flight = options_.max_in_flight,
       .max_connections = options_.max_connections,
       .has_state_file = !options_.state_file.empty(),
       .readiness = [this] { return readiness(); },
       .store = [this] { return store_status(); }},
      limiter_,
      *metrics_,
      rules_,
      limiter_clock_};
  std::unique_ptr<Sweeper> sweeper_;
  const OverflowLog overflow_log_{limiter_, *metrics_};
  std::unique_ptr<RpcServer> rpc_;
  std::unique_ptr<HttpServer> http_;
  RuleWatcher watcher_;
};

absl::Status RunningServer::Start() {
  absl::Status status = StartStore();
  if (status.ok()) status = StartRules();
  if (status.ok()) status = StartHttp();
  if (status.ok()) status = StartRpc();
  if (!status.ok()) return status;
  state_ = State::kReady;
  spdlog::info("{} from {}", rules_.Describe(), options_.rules);
  const std::string warning = WarningOf(options_);
  if (!warning.empty()) spdlog::warn("{}", warning);
  watcher_.Start(
      [this](LoadedRules loaded) { rules_.Reload(std::move(loaded)); });
  if (!watcher_.is_told()) {
    spdlog::warn(
        "the kernel does not tell of changes, so the rules are looked at every "
        "{}",
        absl::FormatDuration(options_.rules_poll));
  }
  return absl::OkStatus();
}

absl::Status RunningServer::StartStore() {
  if (options_.store == "memory") return absl::OkStatus();
  auto shared = SharedStore::Create(options_, limiter_, steady_clock_);
  if (!shared.ok()) return shared.status();
  shared_ = *std::move(shared);
  return absl::OkStatus();
}

StoreStatus RunningServer::store_status() const {
  if (shared_ == nullptr) {
    return {.text = "memory: buckets are in this process"};
  }
  const bool ok = shared_->answers();
  return {.ok = ok,
          .text = absl::StrCat(shared_->place(),
                               ok ? ""
                                  : ": out of reach, outage policies "
                                    "decide"),
          .errors = shared_->errors()};
}

absl::Status RunningServer::StartRules() {
  absl::Status status = rules_.Start(watcher_.Load());
  if (!status.ok()) return status;
  if (keeper_ != nullptr) {
    keeper_->Start(limiter_, limiter_clock_, state_metrics_);
  }
  sweeper_ = std::make_unique<Sweeper>(limiter_, steady_clock_);
  return absl::OkStatus();
}

absl::Status RunningServer::StartHttp() {
  if (options_.http_listen.empty()) return absl::OkStatus();
  HttpServerOptions http;
  http.listen = options_.http_listen;
  http.metrics = [this] {
    const std::optional<RefusedKeysReport> refused = limiter_.ReportRefusedKeys(
        {.max_rules = RefusedKeys::kMaxRules, .max_keys = 1});
    const std::optional<StoreTotals> store =
        shared_ == nullptr ? std::nullopt
                           : std::optional<StoreTotals>(shared_->totals());
    return metrics_->Serialize(
        {.buckets = limiter_.bucket_count(),
         .max_buckets = limiter_.max_buckets(),
         .swept = limiter_.swept_count(),
         .refused = refused.has_value() ? &*refused : nullptr,
         .store = store.has_value() ? &*store : nullptr});
  };
  http.readiness = [this] { return readiness(); };
  http.max_body_bytes = static_cast<size_t>(options_.max_message_bytes);
  if (options_.http_check) {
    http.routes = MakeGatewayRoutes(
        {.gateway = gateway_options(),
         .check_headers =
             options_.rate_limit_headers.value_or(HeaderProfile::kDraft10)},
        limiter_, store(), steady_clock_, call_metrics_);
  }
  if (options_.status_page) {
    for (HttpRoute& route :
         MakeStatusRoutes([this] { return status_source_.Read(); })) {
      http.routes.push_back(std::move(route));
    }
  }
  auto server = MakeHttpServer(std::move(http));
  if (!server.ok()) return server.status();
  http_ = *std::move(server);
  return absl::OkStatus();
}

absl::Status RunningServer::StartRpc() {
  auto tls = CheckedTlsFiles(options_);
  if (!tls.ok()) return tls.status();
  RpcServerOptions rpc;
  rpc.access = {.allow = options_.tls_allow_identities,
                .admin = options_.admin_identities,
                .serve_admin = options_.admin,
                .domains = options_.domain_identities};
  rpc.health_listen = options_.health_listen;
  rpc.tls = *std::move(tls);
  rpc.listen = options_.listen;
  rpc.threads = options_.threads;
  rpc.max_in_flight = options_.max_in_flight;
  rpc.max_queue_wait = options_.max_queue_wait;
  rpc.max_message_bytes = options_.max_message_bytes;
  rpc.gateway = gateway_options();
  rpc.max_connections = options_.max_connections;
  rpc.max_connections_per_address = options_.max_connections_per_address;
  rpc.guard = GuardLimitsOf(options_);
  rpc.connections = &connection_log_;
  rpc.max_connection_age = options_.max_connection_age;
  rpc.rules_in_force = [this] { return rules_.in_force(); };
  rpc.is_ready = [this] { return !waits_for_store(); };
  rpc_ = MakeRpcServer(std::move(rpc), limiter_, store(), limiter_clock_,
                       steady_clock_, call_metrics_);
  const absl::StatusOr<int> port = rpc_->Start();
  if (!port.ok()) return port.status();
  grpc_port_ = *port;
  return absl::OkStatus();
}

Readiness RunningServer::readiness() const {
  switch (state_.load()) {
    case State::kStarting:
      break;
    case State::kReady:
      if (waits_for_store()) {
        return {false, absl::StrCat("starting: no answer yet from ",
                                    shared_->place())};
      }
      return {true, absl::StrCat("ready: ", rules_.Describe())};
    case State::kDraining:
      return {false, "draining: the server is about to stop"};
  }
  return {false, "starting: not yet listening for gRPC"};
}

}  // namespace

absl::StatusOr<std::unique_ptr<ServerApp>> StartServerApp(
    const ServerOptions& options) {
  std::unique_ptr<state::StateKeeper> keeper;
  if (!options.state_file.empty()) {
    auto opened = state::StateKeeper::Open(
        {.path = options.state_file, .interval = options.state_interval});
    if (!opened.ok()) return opened.status();
    keeper = *std::move(opened);
  }
  auto server = std::make_unique<RunningServer>(options, std::move(keeper));
  absl::Status status = server->Start();
  if (!status.ok()) return status;
  return server;
}

}  // namespace tollgate
