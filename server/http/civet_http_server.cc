#include <array>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "civetweb.h"
#include "server/base/periodic_thread.h"
#include "server/http/http_server.h"
#include "spdlog/spdlog.h"

namespace tollgate {
namespace {

constexpr char kIndex[] =
    "tollgate answers here:\n"
    "  /metrics  metrics in the Prometheus text format\n"
    "  /healthz  200 while the process lives\n"
    "  /readyz   200 when it wants work, 503 and why when it does not\n";
constexpr char kPlainText[] = "text/plain; charset=utf-8";
constexpr char kMetricsText[] = "text/plain; version=0.0.4; charset=utf-8";

struct Answer {
  int code = 200;
  const char* reason = "OK";
  const char* content_type = kPlainText;
  std::string body;
};

Answer AnswerTo(absl::string_view path, const HttpServerOptions& options) {
  if (path == "/metrics") return {200, "OK", kMetricsText, options.metrics()};
  if (path == "/healthz") return {200, "OK", kPlainText, "ok\n"};
  if (path == "/readyz") {
    Readiness readiness = options.readiness();
    std::string body = absl::StrCat(readiness.reason, "\n");
    if (readiness.ready) return {200, "OK", kPlainText, std::move(body)};
    return {503, "Service Unavailable", kPlainText, std::move(body)};
  }
  return {404, "Not Found", kPlainText, kIndex};
}

void Send(mg_connection* connection, const Answer& answer, bool with_body) {
  std::string bytes = absl::StrCat(
      "HTTP/1.1 ", answer.code, " ", answer.reason,
      "\r\nContent-Type: ", answer.content_type,
      "\r\nContent-Length: ", answer.body.size(),
      "\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff",
      answer.code == 405 ? "\r\nAllow: GET, HEAD" : "",
      "\r\nConnection: close\r\n\r\n");
  if (with_body) bytes += answer.body;
  mg_write(connection, bytes.data(), bytes.size());
}

// Civetweb's begin_request: a code other than 0 says that we answered, so that
// none of its own handling (files, directories, CGI) ever runs.
int OnRequest(mg_connection* connection) {
  const mg_request_info* const info = mg_get_request_info(connection);
  const auto& options = *static_cast<const HttpServerOptions*>(info->user_data);
  const absl::string_view method =
      absl::NullSafeStringView(info->request_method);
  const bool head = method == "HEAD";
  Answer answer{405, "Method Not Allowed", kPlainText, "use GET or HEAD\n"};
  if (head || method == "GET") {
    answer = AnswerTo(absl::NullSafeStringView(info->local_uri), options);
  }
  Send(connection, answer, !head);
  return answer.code;
}

int OnLog(const mg_connection*, const char* message) {
  spdlog::debug("http: {}", message);
  return 1;  // handled: nothing goes to a file
}

class CivetHttpServer final : public HttpServer {
 public:
  explicit CivetHttpServer(HttpServerOptions options)
      : options_(std::move(options)) {}
  ~CivetHttpServer() override {
    if (context_ != nullptr) Stop();
    mg_exit_library();
  }

  absl::Status Start() {
    mg_init_library(MG_FEATURES_DEFAULT);
    const std::string threads = absl::StrCat(options_.threads);
    const std::string timeout_ms =
        absl::StrCat(absl::ToInt64Milliseconds(options_.timeout));
    std::array<const char*, 9> settings = {"listening_ports",
                                           options_.listen.c_str(),
                                           "num_threads",
                                           threads.c_str(),
                                           "request_timeout_ms",
                                           timeout_ms.c_str(),
                                           "enable_keep_alive",
                                           "no",
                                           nullptr};
    mg_callbacks callbacks{};
    callbacks.begin_request = OnRequest;
    callbacks.log_message = OnLog;
    context_ = mg_start(&callbacks, &options_, settings.data());
    std::array<mg_server_port, 1> ports{};
    if (context_ == nullptr ||
        mg_get_server_ports(context_, ports.size(), ports.data()) < 1) {
      return absl::UnavailableError(absl::StrCat(
          "cannot listen for HTTP on \"", options_.listen,
          "\", want a HOST:PORT of this machine that nobody listens on"));
    }
    port_ = ports[0].port;
    return absl::OkStatus();
  }

  [[nodiscard]] int port() const override { return port_; }

 private:
  void Stop() {
    // Civetweb's listener looks for its end every 2 s, or when a connection
    // comes: so let some come.
    const PeriodicThread knocking([this] {
      const size_t colon = options_.listen.rfind(':');
      std::string host = options_.listen.substr(0, colon);
      if (host == "0.0.0.0" || host == "[::]") host = "localhost";
      std::array<char, 128> error{};
      mg_connection* const knock =
          mg_connect_client(host.c_str(), port_, 0, error.data(), error.size());
      if (knock != nullptr) mg_close_connection(knock);
      return absl::Milliseconds(10);
    });
    mg_stop(context_);
  }

  HttpServerOptions options_;  // read by civetweb's threads
  mg_context* context_ = nullptr;
  int port_ = 0;
};

}  // namespace

absl::StatusOr<std::unique_ptr<HttpServer>> MakeHttpServer(
    HttpServerOptions options) {
  auto server = std::make_unique<CivetHttpServer>(std::move(options));
  if (absl::Status status = server->Start(); !status.ok()) return status;
  return server;
}

}  // namespace tollgate
