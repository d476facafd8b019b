#include <microhttpd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "server/base/mutex.h"
#include "server/http/http_server.h"
#include "server/net/listen_socket.h"
#include "spdlog/spdlog.h"

namespace tollgate {
namespace {

constexpr char kMetricsText[] = "text/plain; version=0.0.4; charset=utf-8";
// What a request's head must fit in, and what a connection costs.
constexpr size_t kConnectionBytes = size_t{64} * 1024;

// An answer that may come on another thread. Thread-safe.
struct Pending {
  Mutex mutex;
  // Until the answer is there the connection may be suspended: it holds no
  // thread then.
  bool suspended ABSL_GUARDED_BY(mutex) = false;
  std::optional<HttpAnswer> answer ABSL_GUARDED_BY(mutex);
};

// One request on its way in, and its answer.
struct Exchange {
  std::string query;
  const HttpRoute* route = nullptr;  // null until the head has been read
  std::string body;
  std::shared_ptr<Pending> pending;  // null until the route is asked
};

// Counts the answers that are still to come. Thread-safe.
class Answering {
 public:
  // False, and counts nothing, once closed.
  bool Enter() {
    MutexLock lock(mutex_);
    if (!closed_) ++count_;
    return !closed_;
  }
  void Leave() {
    MutexLock lock(mutex_);
    --count_;
    left_.notify_all();
  }
  // Lets nobody in any more, and returns once all have left.
  void Close() {
    MutexLock lock(mutex_);
    closed_ = true;
    while (count_ > 0) left_.wait(mutex_);
  }

 private:
  Mutex mutex_;
  std::condition_variable_any left_;
  size_t count_ ABSL_GUARDED_BY(mutex_) = 0;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
};

std::vector<HttpRoute> AllRoutes(const HttpServerOptions& options) {
  std::vector<HttpRoute> routes;
  routes.push_back({.path = "/metrics",
                    .about = "metrics in the Prometheus text format",
                    .answer = [&options](const HttpRequest&, HttpDone done) {
                      done({200, kMetricsText, options.metrics()});
                    }});
  routes.push_back({.path = "/healthz",
                    .about = "200 while the process lives",
                    .answer = [](const HttpRequest&, HttpDone done) {
                      done({.body = "ok\n"});
                    }});
  routes.push_back(
      {.path = "/readyz",
       .about = "200 when it wants work, 503 and why when it does not",
       .answer = [&options](const HttpRequest&, HttpDone done) {
         const Readiness readiness = options.readiness();
         done({.code = readiness.ready ? 200 : 503,
               .body = absl::StrCat(readiness.reason, "\n")});
       }});
  routes.insert(routes.end(), options.routes.begin(), options.routes.end());
  return routes;
}

HttpAnswer NotFound(const std::vector<HttpRoute>& routes) {
  size_t longest = 0;
  for (const HttpRoute& route : routes) {
    if (!route.about.empty()) longest = std::max(longest, route.path.size());
  }
  std::string index = "tollgate answers here:\n";
  for (const HttpRoute& route : routes) {
    if (route.about.empty()) continue;
    absl::StrAppend(&index, "  ", route.path,
                    std::string(longest + 2 - route.path.size(), ' '),
                    route.about, "\n");
  }
  return {.code = 404, .body = std::move(index)};
}

void AddHeader(MHD_Response* response, const char* name,
               const std::string& value) {
  // Refuses what is no header, such as a value with a line break.
  MHD_add_response_header(response, name, value.c_str());
}

MHD_Result Send(MHD_Connection* connection, const HttpAnswer& answer) {
  MHD_Response* const response = MHD_create_response_from_buffer(
      answer.body.size(), const_cast<char*>(answer.body.data()),
      MHD_RESPMEM_MUST_COPY);
  if (response == nullptr) return MHD_NO;
  AddHeader(response, "Content-Type", answer.content_type);
  AddHeader(response, "Cache-Control", "no-store");
  AddHeader(response, "X-Content-Type-Options", "nosniff");
  for (const HeaderField& field : answer.headers) {
    AddHeader(response, field.name.c_str(), field.value);
  }
  const MHD_Result result = MHD_queue_response(
      connection, static_cast<unsigned int>(answer.code), response);
  MHD_destroy_response(response);
  return result;
}

class MicrohttpdServer final : public HttpServer {
 public:
  explicit MicrohttpdServer(HttpServerOptions options)
      : options_(std::move(options)), routes_(AllRoutes(options_)) {}
  ~MicrohttpdServer() override {
    answering_.Close();  // a suspended connection must not be stopped
    if (daemon_ != nullptr) MHD_stop_daemon(daemon_);
  }

  absl::Status Start();
  [[nodiscard]] int port() const override { return port_; }

 private:
  // The library's callbacks. `self` is a MicrohttpdServer.
  static void* OnRequestLine(void* self, const char* target,
                             MHD_Connection* connection);
  static MHD_Result OnRequest(void* self, MHD_Connection* connection,
                              const char* path, const char* method,
                              const char* version, const char* data,
                              size_t* size, void** state);
  static void OnCompleted(void* self, MHD_Connection* connection, void** state,
                          MHD_RequestTerminationCode reason);

  // Asks the exchange's route, once, and sends its answer once it is there.
  MHD_Result OnWhole(MHD_Connection* connection, Exchange& exchange);
  MHD_Result OnHead(MHD_Connection* connection, absl::string_view path,
                    absl::string_view method, Exchange& exchange) const;

  const HttpServerOptions options_;
  const std::vector<HttpRoute> routes_;
  Answering answering_;
  MHD_Daemon* daemon_ = nullptr;
  int port_ = 0;
};

void OnLog(void*, const char* format, va_list arguments) {
  std::array<char, 512> line{};
  std::vsnprintf(line.data(), line.size(), format, arguments);
  spdlog::debug("http: {}", line.data());
}

void* MicrohttpdServer::OnRequestLine(void*, const char* target,
                                      MHD_Connection*) {
  const absl::string_view text = absl::NullSafeStringView(target);
  const size_t question = text.find('?');
  auto exchange = std::make_unique<Exchange>();
  if (question != absl::string_view::npos) {
    exchange->query = std::string(text.substr(question + 1));
  }
  return exchange.release();  // until OnCompleted
}

void MicrohttpdServer::OnCompleted(void*, MHD_Connection*, void** state,
                                   MHD_RequestTerminationCode) {
  const std::unique_ptr<Exchange> done(static_cast<Exchange*>(*state));
  *state = nullptr;
}

MHD_Result MicrohttpdServer::OnHead(MHD_Connection* connection,
                                    absl::string_view path,
                                    absl::string_view method,
                                    Exchange& exchange) const {
  const auto route =
      std::find_if(routes_.begin(), routes_.end(),
                   [&](const HttpRoute& each) { return each.path == path; });
  if (route == routes_.end()) return Send(connection, NotFound(routes_));
  if (!route->any_method && method != "GET" && method != "HEAD") {
    return Send(connection, {.code = 405,
                             .body = "use GET or HEAD\n",
                             .headers = {{"Allow", "GET, HEAD"}}});
  }
  uint64_t length = 0;
  const char* const stated = MHD_lookup_connection_value(
      connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_LENGTH);
  if (stated != nullptr && absl::SimpleAtoi(stated, &length) &&
      length > options_.max_body_bytes) {
    return Send(
        connection,
        {.code = 413,
         .body = absl::StrCat("the body has ", length, " bytes, want at most ",
                              options_.max_body_bytes, "\n")});
  }
  exchange.route = &*route;
  return MHD_YES;
}

MHD_Result MicrohttpdServer::OnWhole(MHD_Connection* connection,
                                     Exchange& exchange) {
  if (exchange.pending == nullptr) {
    if (!answering_.Enter()) return MHD_NO;
    exchange.pending = std::make_shared<Pending>();
    exchange.route->answer(
        {.query = exchange.query, .body = exchange.body},
        [this, connection, pending = exchange.pending](HttpAnswer answer) {
          bool resume = false;
          {
            MutexLock lock(pending->mutex);
            pending->answer = std::move(answer);
            resume = pending->suspended;
          }
          if (resume) MHD_resume_connection(connection);
          answering_.Leave();
        });
  }
  MutexLock lock(exchange.pending->mutex);
  if (exchange.pending->answer.has_value()) {
    return Send(connection, *exchange.pending->answer);
  }
  exchange.pending->suspended = true;
  MHD_suspend_connection(connection);
  return MHD_YES;
}

// Called with the head alone, then with each piece of the body, then, with no
// more data, to answer, and once more if the answer had to be waited for.
MHD_Result MicrohttpdServer::OnRequest(void* self, MHD_Connection* connection,
                                       const char* path, const char* method,
                                       const char*, const char* data,
                                       size_t* size, void** state) {
  auto& server = *static_cast<MicrohttpdServer*>(self);
  auto& exchange = *static_cast<Exchange*>(*state);
  if (exchange.route == nullptr) {
    return server.OnHead(connection, absl::NullSafeStringView(path),
                         absl::NullSafeStringView(method), exchange);
  }
  if (*size > 0) {
    // Without a stated length this is where a body shows that it is too large;
    // nothing can be answered before its end, so the connection is closed.
    if (exchange.body.size() + *size > server.options_.max_body_bytes) {
      return MHD_NO;
    }
    exchange.body.append(data, *size);
    *size = 0;
    return MHD_YES;
  }
  return server.OnWhole(connection, exchange);
}

absl::Status MicrohttpdServer::Start() {
  const absl::StatusOr<ListenSocket> socket = ListenOn(options_.listen, "HTTP");
  if (!socket.ok()) return socket.status();
  port_ = socket->port;
  daemon_ = MHD_start_daemon(
      MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME |
          MHD_USE_ERROR_LOG,
      /*port=*/0,
      /*apc=*/nullptr, /*apc_cls=*/nullptr, OnRequest, this,
      MHD_OPTION_EXTERNAL_LOGGER, OnLog, nullptr, MHD_OPTION_LISTEN_SOCKET,
      socket->fd, MHD_OPTION_THREAD_POOL_SIZE,
      static_cast<unsigned int>(options_.threads), MHD_OPTION_CONNECTION_LIMIT,
      static_cast<unsigned int>(options_.max_connections),
      MHD_OPTION_CONNECTION_TIMEOUT,
      static_cast<unsigned int>(absl::ToInt64Seconds(options_.timeout)),
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, kConnectionBytes,
      MHD_OPTION_URI_LOG_CALLBACK, OnRequestLine, this,
      MHD_OPTION_NOTIFY_COMPLETED, OnCompleted, this, MHD_OPTION_END);
  if (daemon_ == nullptr) {
    ::close(socket->fd);
    return absl::UnavailableError(
        absl::StrCat("cannot serve HTTP on \"", options_.listen,
                     "\": the library does not start"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<HttpServer>> MakeHttpServer(
    HttpServerOptions options) {
  auto server = std::make_unique<MicrohttpdServer>(std::move(options));
  if (absl::Status status = server->Start(); !status.ok()) return status;
  return server;
}

}  // namespace tollgate
