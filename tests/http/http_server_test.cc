#include "server/http/http_server.h"

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/support/tcp_client.h"

namespace tollgate {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

struct Site {
  std::atomic<bool> ready{true};
  std::unique_ptr<HttpServer> server;

  Site() {
    HttpServerOptions options;
    options.listen = "127.0.0.1:0";
    options.metrics = [] { return std::string("a_total 1\n"); };
    options.readiness = [this] {
      return Readiness{ready, ready ? "ready: 3 rules" : "draining"};
    };
    auto made = MakeHttpServer(std::move(options));
    EXPECT_TRUE(made.ok()) << made.status();
    server = *std::move(made);
  }
  [[nodiscard]] std::string Ask(const std::string& method,
                                const std::string& path) const {
    return AskHttp(server->port(), method, path);
  }
};

TEST(HttpServer, ServesMetricsInThePrometheusMediaType) {
  const Site site;
  EXPECT_THAT(site.Ask("GET", "/metrics"),
              AllOf(StartsWith("HTTP/1.1 200 OK\r\n"),
                    HasSubstr("Content-Type: text/plain; version=0.0.4"),
                    HasSubstr("Content-Length: 10\r\n"),
                    HasSubstr("Connection: close\r\n"),
                    EndsWith("\r\n\r\na_total 1\n")));
}

TEST(HttpServer, IsHealthyEvenWhenItIsNotReady) {
  Site site;
  site.ready = false;
  EXPECT_THAT(site.Ask("GET", "/healthz"),
              AllOf(StartsWith("HTTP/1.1 200 "), EndsWith("\r\n\r\nok\n")));
}

TEST(HttpServer, SaysWhetherItIsReadyAndWhy) {
  Site site;
  EXPECT_THAT(site.Ask("GET", "/readyz"),
              AllOf(StartsWith("HTTP/1.1 200 "), EndsWith("ready: 3 rules\n")));
  site.ready = false;
  EXPECT_THAT(site.Ask("GET", "/readyz"),
              AllOf(StartsWith("HTTP/1.1 503 "), EndsWith("draining\n")));
}

TEST(HttpServer, IgnoresAQuery) {
  const Site site;
  EXPECT_THAT(site.Ask("GET", "/readyz?verbose=1"),
              StartsWith("HTTP/1.1 200 "));
}

TEST(HttpServer, SaysWhatThereIsWhereThereIsNothing) {
  const Site site;
  for (const char* path :
       {"/", "/nope", "/metrics/", "/../etc/passwd", "/%2e%2e/etc/passwd"}) {
    const std::string answer = site.Ask("GET", path);
    EXPECT_THAT(answer,
                AllOf(Not(StartsWith("HTTP/1.1 200")), Not(HasSubstr("root:"))))
        << path;
  }
  EXPECT_THAT(site.Ask("GET", "/nope"),
              AllOf(StartsWith("HTTP/1.1 404 "), HasSubstr("/metrics"),
                    HasSubstr("/healthz"), HasSubstr("/readyz")));
}

TEST(HttpServer, AnswersHeadWithoutABody) {
  const Site site;
  EXPECT_THAT(site.Ask("HEAD", "/metrics"),
              AllOf(StartsWith("HTTP/1.1 200 "),
                    HasSubstr("Content-Length: 10\r\n"), EndsWith("\r\n\r\n")));
}

TEST(HttpServer, RefusesOtherMethods) {
  const Site site;
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "PATCH"}) {
    EXPECT_THAT(
        site.Ask(method, "/metrics"),
        AllOf(StartsWith("HTTP/1.1 405 "), HasSubstr("Allow: GET, HEAD\r\n")))
        << method;
  }
}

TEST(HttpServer, SurvivesWhatIsNotHttp) {
  const Site site;
  (void)Exchange(site.server->port(), std::string(50'000, '\xFF') + "\r\n\r\n");
  (void)Exchange(site.server->port(), "GET\r\n\r\n");
  (void)Exchange(site.server->port(), "\r\n\r\n\r\n");
  EXPECT_THAT(site.Ask("GET", "/healthz"), StartsWith("HTTP/1.1 200 "));
}

TEST(HttpServer, AnswersManyAtOnce) {
  const Site site;
  std::atomic<int> answered{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 10; ++i) {
        if (site.Ask("GET", "/metrics").rfind("HTTP/1.1 200", 0) == 0) {
          ++answered;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(answered, 80);
}

TEST(HttpServer, SaysWhereItCannotListen) {
  const Site site;
  for (const std::string& listen :
       {absl::StrCat("127.0.0.1:", site.server->port()),
        std::string("nonsense"), std::string("127.0.0.1:99999")}) {
    HttpServerOptions options;
    options.listen = listen;
    EXPECT_THAT(MakeHttpServer(options),
                StatusIs(absl::StatusCode::kUnavailable, HasSubstr(listen)));
  }
}

}  // namespace
}  // namespace tollgate
